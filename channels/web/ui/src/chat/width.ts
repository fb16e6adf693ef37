// How wide the list of conversations is: chosen by dragging or by the arrow keys, and kept in this browser.

const NAME = "mnema.list-width";

export const LIST_WIDTH = {
  least: 200,
  usual: 272,
  most: 480,

  /** The chosen width in px, else the usual one. */
  stored(): number {
    return this.fitted(Number(localStorage.getItem(NAME)) || this.usual);
  },

  /** Store a width as far as it may go; returns that. */
  keep(wanted: number): number {
    const width = this.fitted(wanted);
    if (width === this.usual) localStorage.removeItem(NAME);
    else localStorage.setItem(NAME, String(width));
    return width;
  },

  fitted(wanted: number): number {
    return Math.round(Math.min(this.most, Math.max(this.least, wanted)));
  },
};

/** Draw the list so wide; the usual width is left to the styles. */
export function showWidth(width: number): void {
  const { style } = document.documentElement;
  if (width === LIST_WIDTH.usual) style.removeProperty("--list");
  else style.setProperty("--list", `${width}px`);
}
