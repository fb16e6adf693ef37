// The transcript on screen: stored lines by their number, what is being sent, and the answer as it grows.

import { conversationPath, get } from "./api.js";
import { byId, el } from "./dom.js";
import { Growing, render } from "./markdown.js";
import { t, when, zh } from "./texts.js";

const PAGE = 50;
const LAST = 1e15;
const END = 4;
const SOONEST = 40;

let watched = null;

/** One conversation's messages. Repeats are dropped by id; order is by line. */
export class Chat {
  constructor(name, { onretry }) {
    this.name = name;
    this.onretry = onretry;
    this.lines = new Map();
    this.answered = new Set();
    this.pending = new Map();
    this.drafts = new Map();
    this.noticed = new Set();
    this.failures = new Map();
    this.newest = 0;
    this.oldest = 0;
    this.loaded = false;
    this.left = false;
    this.following = true;
    this.top = 0;
    this.anchor = null;
    this.box = byId("lines");
    this.scroller = byId("log");
    this.box.replaceChildren();
    this.announce();
    watched?.disconnect();
    watched = new ResizeObserver(() => this.resized());
    watched.observe(this.scroller);
    watched.observe(this.box);
    this.width = this.scroller.clientWidth;
    this.height = this.scroller.clientHeight;
  }

  /** Another conversation has the screen: what still arrives for this one is not shown there. */
  leave() {
    this.left = true;
  }

  /** The newest page of the transcript; false when nobody has written here yet. */
  async load() {
    try {
      const { messages } = await get(conversationPath(this.name, `messages?limit=${PAGE}`));
      if (this.left) return false;
      messages.forEach((line) => this.line(line));
      if (!this.loaded) this.offerEarlier(messages.length === PAGE);
      this.bottom(!this.loaded);
      this.loaded = true;
      return true;
    } catch (err) {
      if (err.status !== 404) throw err;
      if (this.left) return false;
      this.box.append(el("div", { className: "hello" }, el("h2", {}, t("hello")), el("p", {}, t("hello_more"))));
      return false;
    }
  }

  /** Another person's private chat: what is said here is shown once somebody has asked for it. */
  ask(onopen) {
    const open = el("button", { type: "button", className: "primary" }, t("others_open"));
    const why = el("p", { className: "why", role: "alert" });
    const box = el("div", { className: "hello" }, el("h2", {}, t("others")), el("p", {}, t("others_more")), open, why);
    open.onclick = () => {
      open.disabled = true;
      onopen()
        .then(() => box.remove())
        .catch((err) => {
          open.disabled = false;
          why.textContent = err.message || t("unreachable");
        });
    };
    this.box.append(box);
  }

  /** One stored line; one that is shown already changes nothing. */
  line(line) {
    this.newest = Math.max(this.newest, line.line);
    this.oldest = Math.min(this.oldest || line.line, line.line);
    if (line.role === "assistant") this.answered.add(line.reply_to);
    const draft = line.role === "assistant" ? this.drafts.get(line.reply_to) : null;
    if (line.role !== "user") this.over(line.reply_to);
    if (draft) this.announce("answer_there");
    if (line.role === "notice" && line.reply_to) this.explained(line.reply_to);
    const shown = this.lines.get(line.id) ?? (line.role === "user" ? this.adopted(line) : null);
    if (shown && shown.order < LAST) return;
    const node = shown ? this.settle(shown, line) : this.bubble(line, draft);
    this.lines.set(line.id, node);
    this.place(node, line.line);
  }

  /** A message on its way: shown at once, replaced by its stored line. */
  sending(item) {
    this.pending.get(item.key)?.remove();
    const note = el("span", { className: "note" }, t("sending"));
    const node = el("article", { className: "line user pending" }, this.body(item.text, false), ...this.previews(item), note);
    this.pending.set(item.key, node);
    node.words = item.text.trim();
    this.place(node, LAST + this.pending.size);
    this.bottom(true);
  }

  failed(item, why) {
    const node = this.pending.get(item.key);
    if (!node) return;
    const again = el("button", { type: "button", className: "linklike", onclick: () => this.onretry(item) }, t("again"));
    node.classList.add("failed");
    node.querySelector(".note").replaceChildren(`${t("failed", { why })} `, again);
  }

  /** The server took it under this id. */
  taken(item, id) {
    const node = this.pending.get(item.key);
    this.pending.delete(item.key);
    if (this.lines.has(id)) {
      node?.remove();
      return;
    }
    if (!node) return;
    node.classList.remove("pending", "failed");
    node.querySelector(".note")?.remove();
    this.lines.set(id, node);
  }

  started(id) {
    if (this.answered.has(id)) return;
    const draft = this.draft(id);
    draft.text = "";
    draft.growing.clear();
    this.status(id, t("thinking"));
  }

  delta(id, text, whole) {
    if (this.answered.has(id)) return;
    const draft = this.draft(id);
    draft.text = whole ? text : draft.text + text;
    draft.note.textContent = draft.text ? "" : t("thinking");
    if (draft.due) return;
    draft.due = true;
    setTimeout(() => {
      draft.due = false;
      if (this.drafts.get(id) !== draft) return;
      const began = performance.now();
      draft.growing.show(draft.text);
      draft.pause = Math.max(SOONEST, 4 * (performance.now() - began)); // a block that grows long is parsed less often
      this.bottom();
    }, draft.pause);
  }

  tool(id, name, step) {
    if (this.answered.has(id)) return;
    const draft = this.draft(id);
    if (draft.text) draft.text += "\n\n";
    const words = t("tool", { tool: name || "…" });
    this.status(id, step ? `${words} ${t("step", { step })}` : words);
  }

  toolEnded(id) {
    if (this.drafts.has(id)) this.status(id, t("thinking"));
  }

  status(id, words) {
    this.draft(id).note.textContent = words;
    this.bottom();
  }

  /** Something to know that has no stored line. */
  remark(text, kind = "notice") {
    const node = el("article", { className: `line ${kind}` }, this.body(text, true));
    this.place(node, this.newest + 0.5);
    this.bottom();
    return node;
  }

  /** A turn has failed. The stored notice says the same, before or after this: the failure is shown once. */
  turnFailed(id, text) {
    if (id) this.over(id);
    if (!text || this.noticed.has(id) || this.failures.has(id)) return;
    this.failures.set(id, this.remark(text, "notice error"));
  }

  /** The stored notice to a message is there. */
  explained(id) {
    this.noticed.add(id);
    this.failures.get(id)?.remove();
    this.failures.delete(id);
  }

  /** Nothing more of this answer is to come. */
  over(id) {
    this.drafts.get(id)?.node.remove();
    this.drafts.delete(id);
  }

  get busy() {
    return this.drafts.size > 0;
  }

  draft(id) {
    const known = this.drafts.get(id);
    if (known) return known;
    const words = el("div", { className: "words" });
    const note = el("span", { className: "note working" });
    const node = el("article", { className: "line assistant draft" }, words, note);
    const draft = { node, words, note, growing: new Growing(words), text: "", due: false, pause: SOONEST };
    if (!this.drafts.size) this.announce("answer_began");
    this.drafts.set(id, draft);
    this.place(node, LAST);
    this.bottom();
    return draft;
  }

  /** A stored line; an answer that has been growing on the screen stays there. */
  bubble(line, draft = null) {
    const kind = line.role === "user" ? "user" : line.role === "assistant" ? "assistant" : "notice";
    const grown = draft && line.text.startsWith(draft.text) ? draft : null;
    grown?.growing.end(line.text);
    const words = grown?.words ?? this.body(line.text, kind !== "user");
    const node = el("article", { className: `line ${kind}` }, words, this.stamp(line));
    node.dataset.id = line.id;
    return node;
  }

  body(text, markdown) {
    const words = el("div", { className: "words" });
    if (markdown) words.append(render(text));
    else words.append(el("div", { className: "plain" }, text));
    return words;
  }

  /** When it was, and a way to see what became of it. */
  stamp(line) {
    const time = el("time", { dateTime: line.at, title: new Date(line.at).toLocaleString() }, when(line.at));
    if (line.role !== "user" && !line.reply_to) return time;
    const show = el("button", { type: "button", className: "linklike", onclick: () => this.trace(line, time) }, t("trace"));
    time.append(" · ", show);
    return time;
  }

  /** Show under a message, step by step, what became of it; a second time hides it. */
  async trace(line, time) {
    const shown = time.parentElement.querySelector(".trace");
    if (shown) {
      shown.remove();
      return;
    }
    try {
      const told = await get(conversationPath(this.name, `trace?message=${encodeURIComponent(line.id)}`));
      time.before(el("pre", { className: "trace" }, told[zh ? "zh" : "en"].join("\n")));
    } catch (err) {
      time.before(el("pre", { className: "trace" }, err.message));
    }
    this.bottom();
  }

  previews(item) {
    return (item.attachments ?? []).map((file) =>
      file.media_type.startsWith("image/")
        ? el("img", { className: "shot", alt: file.name, src: `data:${file.media_type};base64,${file.data}` })
        : el("span", { className: "chip" }, file.name),
    );
  }

  /** The bubble that was shown while this line was being sent, if its stored line comes before the answer to that. */
  adopted(line) {
    for (const [key, node] of this.pending) {
      if (node.words !== line.text.trim()) continue;
      this.pending.delete(key);
      return node;
    }
    return null;
  }

  settle(node, line) {
    node.classList.remove("pending", "failed");
    node.querySelector(".note")?.remove();
    node.dataset.id = line.id;
    node.append(this.stamp(line));
    return node;
  }

  /** The order of the screen: stored lines by number, then the growing answer, then what is being sent. */
  place(node, order) {
    this.box.querySelector(".hello")?.remove();
    node.order = order;
    let after = this.box.lastElementChild;
    while (after && (after.order ?? -1) > order) after = after.previousElementSibling;
    if (after) after.after(node);
    else this.box.prepend(node);
  }

  offerEarlier(more) {
    this.box.querySelector(".earlier")?.remove();
    if (!more) return;
    this.box.prepend(el("button", { type: "button", className: "earlier quiet", onclick: () => this.earlier() }, t("earlier")));
  }

  async earlier() {
    const from = this.scroller.scrollHeight - this.scroller.scrollTop;
    const { messages } = await get(conversationPath(this.name, `messages?limit=${PAGE}&before=${this.oldest}`));
    if (this.left) return;
    messages.forEach((line) => this.line(line));
    this.offerEarlier(messages.length === PAGE);
    this.scroller.scrollTop = this.scroller.scrollHeight - from;
    this.scrolled();
  }

  /** Follow the newest words, unless the reader has scrolled up. */
  bottom(force = false) {
    if (force) this.following = true;
    if (this.following) this.scroller.scrollTop = this.scroller.scrollHeight;
    this.scrolled();
  }

  get atEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    return scrollHeight - scrollTop - clientHeight <= END;
  }

  /** Only the reader moves the view upwards: what grows, and what is shown at the end, never does. */
  scrolled() {
    const { scrollTop, clientWidth, clientHeight } = this.scroller;
    const same = clientWidth === this.width && clientHeight === this.height;
    if (this.atEnd) this.following = true;
    else if (same && scrollTop < this.top - 1) this.following = false;
    this.top = scrollTop;
    byId("down").hidden = this.following;
    if (same) this.anchor = this.following ? null : this.first();
  }

  /** The line at the upper edge of the view, and how far from it. */
  first() {
    const edge = this.scroller.getBoundingClientRect().top;
    for (const node of this.box.children) {
      const { top, bottom } = node.getBoundingClientRect();
      if (bottom > edge) return { node, top: top - edge };
    }
    return null;
  }

  /** The window, the drawer or the words have changed in size: the reader stays where they were. */
  resized() {
    const { clientWidth, clientHeight } = this.scroller;
    const reshaped = clientWidth !== this.width || clientHeight !== this.height;
    this.width = clientWidth;
    this.height = clientHeight;
    if (!this.following && reshaped && this.anchor?.node.isConnected) {
      const { top } = this.anchor.node.getBoundingClientRect();
      this.scroller.scrollTop += top - this.scroller.getBoundingClientRect().top - this.anchor.top;
    }
    this.bottom();
  }

  /** Tell who cannot see the screen; the transcript itself changes too often while an answer grows. */
  announce(key = "") {
    byId("said").textContent = key ? t(key) : "";
  }
}
