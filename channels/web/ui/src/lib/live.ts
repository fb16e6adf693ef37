// The one event stream of this tab, for the list and the open conversation: resumed by the browser, opened anew by us
// when the server refused it.

import { address, begin, get } from "./api";

// None may be called "error": that is what the browser itself says of a broken connection.
const OF_CHAT = ["accepted", "started", "delta", "waiting", "tool_started", "tool_ended", "reply", "fold", "notice", "failed", "context"];
const OF_LIST = ["conversation", "reset"];
const AGAIN_MS = 1000;

export type LiveData = Record<string, unknown> & { message_id?: string; text?: string };

export interface Listener {
  /** The newest stored line that is shown. */
  after(): number;
  onchat(name: string, data: LiveData): void;
  onlist(name: string, data: LiveData): void;
  /** The connection went or came back. */
  onlink(up: boolean): void;
  /** It came back after something may have been missed. */
  onback(): void;
}

export class Live {
  closed = false;
  private source: EventSource | null = null;
  private missed = false;

  /** name: the conversation to follow, "" for none. */
  constructor(
    readonly name: string,
    private readonly listener: Listener,
  ) {
    document.addEventListener("visibilitychange", this.seen);
    this.connect();
  }

  // A browser opens six connections to one server: a tab that nobody sees gives its own back.
  private readonly seen = (): void => {
    if (document.hidden) this.rest();
    else this.connect();
  };

  private connect(): void {
    if (this.closed || document.hidden) return;
    this.source?.close();
    const topics = this.name ? `conversations,c:${encodeURIComponent(this.name)}&after=${this.listener.after()}` : "conversations";
    const source = new EventSource(address(`/events?topics=${topics}`));
    this.source = source;
    source.onopen = () => this.opened();
    source.onerror = () => void this.lost(source);
    for (const name of OF_CHAT)
      source.addEventListener(name, (event) => this.listener.onchat(name, JSON.parse((event as MessageEvent).data)));
    for (const name of OF_LIST)
      source.addEventListener(name, (event) => this.listener.onlist(name, JSON.parse((event as MessageEvent).data)));
  }

  private opened(): void {
    this.listener.onlink(true);
    if (this.missed) this.listener.onback();
    this.missed = false;
  }

  private rest(): void {
    this.missed = true;
    this.source?.close();
  }

  private async lost(source: EventSource): Promise<void> {
    if (this.closed || document.hidden) return;
    this.missed = true;
    this.listener.onlink(false);
    if (source.readyState !== EventSource.CLOSED) {
      await get("/session").catch(() => null); // the browser tries again in seconds; a login that was ended shows at once
      return;
    }
    await begin().catch(() => null); // a login that has ended shows the login page
    setTimeout(() => this.connect(), AGAIN_MS);
  }

  close(): void {
    this.closed = true;
    document.removeEventListener("visibilitychange", this.seen);
    this.source?.close();
  }
}
