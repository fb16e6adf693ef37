// Where the reader is in a text that grows: at its end, which is followed, or further up, where they stay.

const END = 4;

interface Anchor {
  node: Element;
  top: number;
}

export class Follower {
  following = true;
  private top = 0;
  private anchor: Anchor | null = null;
  private width: number;
  private height: number;
  private readonly watched: ResizeObserver;

  /** onchange: called when following begins or ends, and at each scroll. */
  constructor(
    private readonly scroller: HTMLElement,
    private readonly box: HTMLElement,
    private readonly onchange: () => void,
  ) {
    this.width = scroller.clientWidth;
    this.height = scroller.clientHeight;
    this.watched = new ResizeObserver(() => this.resized());
    this.watched.observe(scroller);
    this.watched.observe(box);
    scroller.addEventListener("scroll", this.scrolled, { passive: true });
  }

  close(): void {
    this.watched.disconnect();
    this.scroller.removeEventListener("scroll", this.scrolled);
  }

  /** Follow the newest words, unless the reader has scrolled up. */
  bottom(force = false): void {
    if (force) this.following = true;
    if (this.following) this.scroller.scrollTop = this.scroller.scrollHeight;
    this.scrolled();
  }

  /** Keep what is seen where it is while `change` puts something above it. */
  async keep(change: () => Promise<void>): Promise<void> {
    const before = this.first();
    await change();
    if (before?.node.isConnected) this.restore(before);
    this.scrolled();
  }

  private get atEnd(): boolean {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    return scrollHeight - scrollTop - clientHeight <= END;
  }

  /** Only the reader moves the view upwards: what grows, and what is shown at the end, never does. */
  readonly scrolled = (): void => {
    const { scrollTop, clientWidth, clientHeight } = this.scroller;
    const same = clientWidth === this.width && clientHeight === this.height;
    if (this.atEnd) this.following = true;
    else if (same && scrollTop < this.top - 1) this.following = false;
    this.top = scrollTop;
    if (same) this.anchor = this.following ? null : this.first();
    this.onchange();
  };

  /** The line at the upper edge of the view, and how far from it. */
  private first(): Anchor | null {
    const edge = this.scroller.getBoundingClientRect().top;
    for (const node of this.box.querySelectorAll(":scope > .line")) {
      const { top, bottom } = node.getBoundingClientRect();
      if (bottom > edge) return { node, top: top - edge };
    }
    return null;
  }

  private restore(anchor: Anchor): void {
    const { top } = anchor.node.getBoundingClientRect();
    this.scroller.scrollTop += top - this.scroller.getBoundingClientRect().top - anchor.top;
  }

  /** The window, a panel or the words have changed in size: the reader stays where they were. */
  private resized(): void {
    const { clientWidth, clientHeight } = this.scroller;
    const reshaped = clientWidth !== this.width || clientHeight !== this.height;
    this.width = clientWidth;
    this.height = clientHeight;
    if (!this.following && reshaped && this.anchor?.node.isConnected) this.restore(this.anchor);
    this.bottom();
  }
}
