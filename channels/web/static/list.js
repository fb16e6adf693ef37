// The list of conversations: read page by page, newest first, and moved by the stream.

import { ApiError, get } from "./api.js";
import { byId, el } from "./dom.js";
import { t, when } from "./texts.js";

const PAGE = 100;
const MOST = 200;
const NEAR = 400;

/** What is known of the list. `onchoose(name)` is called when an entry is pressed. */
export class List {
  constructor({ onchoose }) {
    this.onchoose = onchoose;
    this.known = new Map();
    this.nodes = new Map();
    this.here = "";
    this.next = null;
    this.reading = null;
    this.due = false;
    this.box = byId("list");
    this.more = el("button", { type: "button", className: "quiet more-entries", onclick: () => this.earlier() }, t("more_conversations"));
    this.box.onscroll = () => this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < NEAR && this.earlier();
  }

  /** Read the list from its beginning, as far as it was read before in one go. */
  async read() {
    const limit = this.known.size > PAGE ? MOST : PAGE;
    const { conversations, next } = await get(`/api/conversations?limit=${limit}`);
    const here = this.known.get(this.here);
    this.known = new Map(conversations.map((one) => [one.id, one]));
    if (here && !this.known.has(here.id)) this.known.set(here.id, here);
    this.next = next;
    this.draw();
  }

  /** The next page, once at a time. */
  earlier() {
    if (!this.next) return;
    this.reading ??= get(`/api/conversations?limit=${PAGE}&cursor=${encodeURIComponent(this.next)}`)
      .then(({ conversations, next }) => {
        // What the stream has told meanwhile is newer than this page.
        for (const one of conversations) if (!this.known.has(one.id)) this.known.set(one.id, one);
        this.next = next;
        this.draw();
      })
      .catch(() => {}) // the button is still there
      .finally(() => (this.reading = null));
  }

  /** The entry of a conversation, asked for where the list has not come to it; null when nobody has written in it. */
  async entry(name) {
    if (!this.known.has(name)) {
      try {
        this.known.set(name, await get(`/api/conversations/${encodeURIComponent(name)}`));
      } catch (err) {
        if (!(err instanceof ApiError) || err.status !== 404) throw err;
        return null;
      }
    }
    return this.known.get(name);
  }

  /** The stream says that this one has changed. */
  changed(entry) {
    this.known.set(entry.id, entry);
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => this.draw());
  }

  /** This conversation is open now. */
  show(name) {
    this.here = name;
    this.draw();
  }

  draw() {
    this.due = false;
    const sorted = [...this.known.values()].sort((one, other) => (one.updated_at < other.updated_at ? 1 : -1));
    if (this.here && !this.known.has(this.here)) sorted.unshift({ id: this.here, title: "", channel: "web", whose: "own" });
    const shown = new Set(sorted.map((one) => one.id));
    for (const [id, { node }] of this.nodes) if (!shown.has(id)) node.remove(), this.nodes.delete(id);
    // Only what has moved is moved, so that the focus and the place of the list stay.
    let before = null;
    for (const one of sorted) {
      const node = this.node(one);
      const place = before ? before.nextSibling : this.box.firstChild;
      if (place !== node) this.box.insertBefore(node, place);
      before = node;
    }
    if (this.next) this.box.append(this.more);
    else this.more.remove();
  }

  node(one) {
    const told = JSON.stringify([one, one.id === this.here]);
    const made = this.nodes.get(one.id) ?? { node: el("button", { type: "button", onclick: () => this.onchoose(one.id) }), told: "" };
    this.nodes.set(one.id, made);
    if (made.told === told) return made.node;
    made.told = told;
    const title = one.whose === "other" ? t("chat_of", { who: one.title }) : one.title || (one.updated_at ? one.id : t("untitled"));
    made.node.className = one.id === this.here ? "entry here" : "entry";
    made.node.toggleAttribute("aria-current", one.id === this.here);
    made.node.replaceChildren(
      el("span", { className: "entry-title" }, title),
      el("small", {}, one.channel === "web" ? "" : `${one.channel} · `, one.updated_at ? when(one.updated_at) : ""),
    );
    return made.node;
  }
}
