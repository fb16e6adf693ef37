// The one event stream of this tab, for the list and the open conversation: resumed by the browser, opened anew by us
// when the server refused it.

import { get } from "./api.js";

// None may be called "error": that is what the browser itself says of a broken connection.
const NAMES = ["accepted", "started", "delta", "tool_started", "tool_ended", "reply", "fold", "notice", "failed"];
const OF_LIST = ["conversation", "reset"];

/**
 * Calls on(name, data) for each event of the conversation ("" follows none), onlist(name, data) for each of the list,
 * onlink(up) when the connection goes or comes back, and onback() when it comes back after something may have been missed.
 */
export class Live {
  constructor(name, { after, on, onlist, onlink, onback }) {
    Object.assign(this, { name, after, on, onlist, onlink, onback, closed: false, source: null, missed: false });
    // A browser opens six connections to one server: a tab that nobody sees gives its own back.
    this.seen = () => (document.hidden ? this.rest() : this.connect());
    document.addEventListener("visibilitychange", this.seen);
    this.connect();
  }

  connect() {
    if (this.closed || document.hidden) return;
    this.source?.close();
    const query = this.name ? `?conversation=${encodeURIComponent(this.name)}&after=${this.after()}` : "";
    this.source = new EventSource(`/api/events${query}`);
    this.source.onopen = () => this.opened();
    this.source.onerror = () => this.lost();
    for (const name of NAMES) this.source.addEventListener(name, (event) => this.on(name, JSON.parse(event.data)));
    for (const name of OF_LIST) this.source.addEventListener(name, (event) => this.onlist(name, JSON.parse(event.data)));
  }

  opened() {
    this.onlink(true);
    if (this.missed) this.onback();
    this.missed = false;
  }

  rest() {
    this.missed = true;
    this.source?.close();
  }

  async lost() {
    if (this.closed || document.hidden) return;
    this.missed = true;
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
