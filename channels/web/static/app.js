// The page: which conversation is open, what is sent in it, and what the server tells about it.

import { begin, conversationPath, get, post } from "./api.js";
import * as channels from "./channels.js";
import { Chat } from "./chat.js";
import { Composer } from "./composer.js";
import * as context from "./context.js";
import { byId, toast } from "./dom.js";
import * as folds from "./folds.js";
import { List } from "./list.js";
import { Live } from "./live.js";
import * as memory from "./memory.js";
import * as panels from "./panels.js";
import { t } from "./texts.js";
import * as usage from "./usage.js";

const OUTBOX = "mnema.outbox";
const TRIES = 6;
const state = { name: "", chat: null, live: null, here: null };
const list = new List({ onchoose: (name) => go(name) });
const composer = new Composer({ onsend: send, onstop: stop });

const newName = () => `chat-${crypto.randomUUID().slice(0, 8)}`;
const outbox = () => JSON.parse(localStorage.getItem(OUTBOX) ?? "[]");

function keepOutbox(items) {
  const kept = items.map(({ name, key, text, attachments }) => ({ name, key, text, files: attachments?.length ?? 0 }));
  localStorage.setItem(OUTBOX, JSON.stringify(kept));
}

/** What was not taken before the page went away: sent again, or, where files are lost, written back into the box. */
function resume() {
  const left = outbox();
  for (const item of left.filter((one) => one.files)) localStorage.setItem(`mnema.text.${item.name}`, item.text);
  const whole = left.filter((one) => !one.files);
  keepOutbox(whole);
  return whole;
}

async function openConversation(name) {
  state.live?.close();
  state.chat?.leave();
  state.name = name;
  state.here = null;
  if (named() !== name) history.replaceState(history.state, "", `#${name}`); // a reload leads back here
  const chat = (state.chat = new Chat(name, { onretry: deliver }));
  context.leave();
  composer.open(name);
  composer.busy(false);
  byId("title").textContent = t("untitled");
  side(false);
  folds.quiet();
  list.show(name);
  const here = await list.entry(name);
  if (state.chat !== chat) return;
  state.here = here;
  composer.belongs(here?.channel ?? "web");
  byId("title").textContent = titleOf(here);
  list.show(name);
  if (here?.whose !== "other") return enter(chat);
  follow("");
  chat.ask(() => post(conversationPath(name, "open")).then(() => enter(chat)));
}

const titleOf = (entry) => (entry?.whose === "other" ? t("chat_of", { who: entry.title }) : entry?.title || t("untitled"));

/** Show what was said, and what is being said. */
async function enter(chat) {
  const exists = await chat.load();
  if (state.chat !== chat) return;
  follow(exists ? chat.name : "");
  context.refresh(exists ? chat.name : "");
}

/** One stream: of the list, and of that conversation unless it is "". */
function follow(name) {
  if (state.live && !state.live.closed && state.live.name === name) return;
  state.live?.close();
  const { chat } = state;
  state.live = new Live(name, {
    after: () => chat.newest,
    on: (event, told) => state.chat === chat && hear(chat, event, told),
    onlist: moved,
    onlink: (up) => (byId("link").textContent = up ? "" : t("offline")),
    onback: () => list.read().catch(() => {}),
  });
}

/** Something has changed in the list: what is open here may have a title now, or new lines that no stream brings. */
function moved(event, told) {
  if (event === "reset") return void list.read().catch(() => {});
  list.changed(told);
  if (told.id !== state.name) return;
  const known = state.here;
  state.here = told;
  byId("title").textContent = titleOf(told);
  const { chat } = state;
  if (!known) follow(chat.name);
  else if (chat.loaded && !["web", "terminal"].includes(told.channel)) chat.load().then(() => settled(chat)).catch(() => {});
}

const STORED = { accepted: "user", reply: "assistant", notice: "notice" };

function hear(chat, name, told) {
  const id = told.message_id;
  if (STORED[name] && told.line) {
    chat.line({ id: told.id, role: STORED[name], text: told.text, at: told.at, line: told.line, reply_to: name === "accepted" ? "" : id });
    chat.bottom();
    settled(chat);
  } else if (name === "started") chat.started(id);
  else if (name === "delta") chat.delta(id, told.text, told.whole);
  else if (name === "tool_started") chat.tool(id, told.tool, told.step);
  else if (name === "tool_ended") chat.toolEnded(id);
  else if (name === "fold") folded(chat, told);
  else if (name === "failed") chat.turnFailed(id, told.text);
  else chat.remark(told.text);
  composer.busy(chat.busy);
}

let soon = 0;
function settled(chat) {
  clearTimeout(soon);
  soon = setTimeout(() => {
    if (state.chat !== chat) return;
    context.refresh(chat.name);
  }, 250);
}

function folded(chat, told) {
  folds.progress(told);
  settled(chat);
}

function send(text, attachments) {
  const item = { name: state.name, key: crypto.randomUUID(), text, attachments };
  keepOutbox([...outbox(), item]);
  deliver(item);
}

const here = (item) => (state.name === item.name ? state.chat : null);
let lane = Promise.resolve();

/** One after another, so that they arrive in the order in which they were written. */
function deliver(item) {
  here(item)?.sending(item);
  lane = lane.then(() => push(item));
}

/** Send until it is taken: the key stays the same, so however often it arrives it is one message. */
async function push(item) {
  const files = (item.attachments ?? []).map(({ name, media_type, data }) => ({ name, media_type, data }));
  const body = { conversation: item.name, text: item.text, key: item.key, ...(files.length ? { attachments: files } : {}) };
  for (let tries = 1; ; tries += 1) {
    try {
      const { id } = await post("/api/messages", body);
      done(item);
      const chat = here(item);
      chat?.taken(item, id);
      if (chat) follow(chat.name);
      return;
    } catch (err) {
      const passing = err.status === 0 || err.status === 503;
      if (passing && tries < TRIES) {
        await new Promise((next) => setTimeout(next, 400 * 2 ** tries));
        continue;
      }
      if (!passing) done(item);
      here(item)?.failed(item, err.status === 0 ? t("unreachable") : err.message);
      return;
    }
  }
}

function done(item) {
  keepOutbox(outbox().filter((other) => other.key !== item.key));
}

async function stop() {
  await post(conversationPath(state.name, "stop")).catch((err) => toast(err.message));
  toast(t("stopped"));
}

function go(name) {
  if (location.hash === `#${name}`) openConversation(name);
  else panels.go(name);
}

function named() {
  const wanted = location.hash.slice(1);
  return /^[A-Za-z0-9._:-]{1,128}$/.test(wanted) ? wanted : "";
}

/** The list of conversations, which on a phone lies over the page. */
function side(open) {
  if (open === panels.isOpen("side")) return;
  if (open) panels.opened("side", hideSide);
  else hideSide();
  document.body.classList.toggle("side-open", open);
  byId("shade").hidden = !open;
  if (open) byId("new").focus();
  else panels.closed("side");
}

function hideSide() {
  document.body.classList.remove("side-open");
  byId("shade").hidden = true;
  // Once what is behind can have it again; where nothing else has taken it.
  setTimeout(() => {
    const focused = document.activeElement ?? document.body;
    if (focused === document.body || byId("side").contains(focused)) byId("menu").focus();
  });
}

function label() {
  byId("new").textContent = t("new");
  byId("open-memory").textContent = t("memory");
  byId("open-channels").textContent = t("channels");
  byId("open-usage").textContent = t("models");
  byId("logout").textContent = t("logout");
  byId("menu").setAttribute("aria-label", t("menu"));
  byId("down").setAttribute("aria-label", t("down"));
  byId("shade").setAttribute("aria-label", t("close"));
  byId("side").setAttribute("aria-label", "mnema");
  byId("list").setAttribute("aria-label", t("menu"));
  byId("log").setAttribute("aria-label", t("talk"));
  byId("new").onclick = () => go(newName());
  byId("menu").onclick = () => side(true);
  byId("shade").onclick = () => side(false);
  byId("open-memory").onclick = () => (side(false), memory.open().catch((err) => toast(err.message)));
  byId("open-channels").onclick = () => (side(false), channels.open().catch((err) => toast(err.message)));
  byId("open-usage").onclick = () => (side(false), usage.open().catch((err) => toast(err.message)));
  byId("context").onclick = context.open;
  byId("down").onclick = () => state.chat?.bottom(true);
  byId("log").onscroll = () => state.chat?.scrolled();
  byId("logout").onclick = () => post("/logout").finally(() => location.replace("/"));
  addEventListener("hashchange", () => openConversation(named() || newName()));
  addEventListener("keydown", (event) => event.key === "Escape" && panels.closeTop());
}

/** Where somebody who has just come in begins: in their own newest conversation, never in another person's. */
async function beginning() {
  const { conversations } = await get("/api/conversations?own=1&limit=1");
  return conversations[0]?.id ?? newName();
}

label();
await begin();
const unsent = resume();
const [commands, first] = await Promise.all([
  get("/api/commands").catch(() => ({ commands: [] })),
  named() || beginning(),
  list.read().catch((err) => toast(err.message)),
]);
composer.commands = commands.commands;
await openConversation(first);
unsent.forEach(deliver);
