// Which rows of a long list are in the document: those in view and a few beside them.

const BESIDE_PX = 250;

export interface Window {
  /** First row, and one after the last. */
  from: number;
  to: number;
  /** Where each of these rows begins, in px. */
  tops: number[];
  /** Height of all rows, in px. */
  total: number;
}

/** The rows of these heights that are seen from `top` on over `height` px. Pure. */
export function windowOf(heights: readonly number[], top: number, height: number): Window {
  let y = 0;
  let from = -1;
  let to = 0;
  const tops: number[] = [];
  heights.forEach((row, at) => {
    if (y + row > top - BESIDE_PX && y < top + height + BESIDE_PX) {
      if (from < 0) from = at;
      tops.push(y);
      to = at + 1;
    }
    y += row;
  });
  return { from: Math.max(0, from), to, tops, total: y };
}
