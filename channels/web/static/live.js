// The event stream of one conversation: resumed by the browser, opened anew by us when the server refused it.

import { conversationPath, get } from "./api.js";

// None may be called "error": that is what the browser itself says of a broken connection.
const NAMES = ["accepted", "started", "delta", "tool_started", "tool_ended", "reply", "fold", "notice", "failed"];

/** Calls on(name, data) for each event and onlink(up) when the connection comes or goes. */
export class Live {
  constructor(name, after, on, onlink) {
    Object.assign(this, { name, after, on, onlink, closed: false, source: null });
    // A browser opens six connections to one server: a tab that nobody sees gives its own back.
    this.seen = () => (document.hidden ? this.source?.close() : this.connect());
    document.addEventListener("visibilitychange", this.seen);
    this.connect();
  }

  connect() {
    if (this.closed || document.hidden) return;
    this.source?.close();
    this.source = new EventSource(`${conversationPath(this.name, "events")}?after=${this.after()}`);
    this.source.onopen = () => this.onlink(true);
    this.source.onerror = () => this.lost();
    for (const name of NAMES) this.source.addEventListener(name, (event) => this.on(name, JSON.parse(event.data)));
  }

  async lost() {
    if (this.closed) return;
    this.onlink(false);
    if (this.source.readyState !== EventSource.CLOSED) return;
    await get("/api/session").catch(() => null); // a login that has ended shows the login page
    setTimeout(() => this.connect(), 1000);
  }

  close() {
    this.closed = true;
    document.removeEventListener("visibilitychange", this.seen);
    this.source?.close();
  }
}
