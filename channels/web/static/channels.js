// The channels in the drawer: how each of them is, its login, and who asks to be let in.

import { get, post } from "./api.js";
import { el, toast } from "./dom.js";
import { drawer, shown } from "./drawer.js";
import { ago, t, when, zh } from "./texts.js";

const KIND = "channels";
const LOOK_EVERY = 2000;
const own = (sentence) => (zh ? sentence.zh : sentence.en);
let looks = 0;

/** Every channel, kept up to date for as long as the drawer shows them. */
export async function open() {
  const { channels } = await get("/api/status");
  const list = el("div", { className: "channels" });
  const asking = el("div", { className: "asking" });
  drawer(t("channels"), [list, asking], { kind: KIND });
  const rows = new Map();
  draw(list, rows, channels);
  const mine = ++looks;
  for (const name of Object.keys(channels)) if (channels[name].prompt?.kind === "wait") look(name);
  await access(asking);
  const again = async () => {
    if (mine !== looks || !shown(KIND)?.contains(list)) return;
    await Promise.all([refresh(list, rows), access(asking)]).catch(() => {}); // the head of the page says it is offline
    setTimeout(again, LOOK_EVERY);
  };
  setTimeout(again, LOOK_EVERY);
}

/** Somebody is here: a channel that rests need not wait longer with a new code. */
const look = (name) => post(`/api/channels/${encodeURIComponent(name)}/answer`, { text: "" }).catch(() => {});

const refresh = async (list, rows) => draw(list, rows, (await get("/api/status")).channels);

/** One row each; a row that is there already keeps its elements, and so what is being typed in it. */
function draw(list, rows, channels) {
  for (const name of rows.keys()) if (!(name in channels)) rows.get(name).node.remove(), rows.delete(name);
  for (const [name, state] of Object.entries(channels)) {
    if (!rows.has(name)) rows.set(name, row(name));
    const one = rows.get(name);
    one.update(state);
    list.append(...(one.node.isConnected ? [] : [one.node]));
  }
}

function row(name) {
  const mood = el("span", { className: "mood" });
  const why = el("p", { className: "why" });
  const facts = el("dl", { className: "facts" });
  const login = el("div", { className: "login-box", role: "status" });
  const node = el("section", { className: "channel", "aria-label": name }, el("h3", {}, name, mood), why, facts, login);
  let asked = "";
  const update = (state) => {
    node.dataset.state = state.state;
    node.classList.toggle("well", state.up);
    mood.textContent = t(`mood_${state.state}`);
    why.textContent = state.why;
    why.hidden = !state.why || Boolean(state.prompt); // which says what to do about it
    const told = lines(state);
    facts.hidden = !told.length;
    facts.replaceChildren(...told.flatMap(([label, value]) => [el("dt", {}, label), el("dd", {}, value)]));
    const wanted = state.prompt ? `${state.prompt.kind} ${state.prompt.id} ${own(state.prompt)}` : "";
    if (wanted === asked) return;
    asked = wanted;
    login.replaceChildren(...(state.prompt ? prompt(name, state.prompt) : []));
  };
  return { node, update };
}

function lines(state) {
  const told = [
    [t("since"), state.since && ago(state.since)],
    [t("heard"), state.heard && ago(state.heard)],
    [t("last_error"), state.last_error && state.last_error !== state.why && `${state.last_error} · ${ago(state.last_error_at)}`],
    [t("quota"), state.quota],
  ];
  return told.filter(([, value]) => value);
}

/** What a channel wants of its owner: a code to scan, digits to type, or a moment. */
function prompt(name, wanted) {
  const path = `/api/channels/${encodeURIComponent(name)}`;
  const says = el("p", { className: wanted.kind === "wait" ? "working" : "" }, own(wanted));
  if (wanted.kind === "qr") {
    const src = `${path}/qr.svg?${encodeURIComponent(wanted.id)}`;
    return [says, el("img", { className: "qr", alt: t("qr"), src, width: 232, height: 232 })];
  }
  if (wanted.kind !== "digits") return [says];
  const box = el("input", { inputMode: "numeric", autocomplete: "one-time-code", maxLength: 12, "aria-label": own(wanted), required: true, pattern: "[0-9]{1,12}" });
  const send = (event) => {
    event.preventDefault();
    post(`${path}/answer`, { text: box.value.trim() })
      .then(() => toast(t("handed_over")))
      .catch((err) => toast(err.message));
  };
  return [says, el("form", { className: "typed", onsubmit: send }, box, el("button", { className: "primary", type: "submit" }, t("enter_digits")))];
}

let drawn = new WeakMap();

/** Who asks to be let in: people by the code that they were given, groups by a press. */
async function access(place) {
  const facts = await get("/api/access").catch(() => null);
  const seen = JSON.stringify(facts && [facts.waiting, facts.locked_until]);
  if (drawn.get(place) === seen) return;
  drawn.set(place, seen);
  if (!facts) return place.replaceChildren();
  const people = facts.waiting.filter((one) => one.kind !== "group");
  const groups = facts.waiting.filter((one) => one.kind === "group");
  const typed = place.querySelector(".typed input")?.value ?? "";
  place.replaceChildren(
    el("h3", {}, t("asking")),
    ...people.map((one) => el("p", { className: "request" }, who(one), el("small", {}, t("until", { when: when(one.expires) })))),
    ...groups.map((one) => group(one, place)),
    ...(facts.waiting.length ? [] : [el("p", { className: "dim" }, t("nobody_asks"))]),
    ...(facts.locked_until ? [el("p", { className: "why" }, t("locked", { when: when(facts.locked_until) }))] : []),
    ...(people.length ? [decide(place, typed)] : []),
  );
}

/** Names are what people call themselves: quoted, beside the id that nobody can choose. */
const who = (one) => el("span", {}, el("b", {}, `${one.channel}:${one.id}`), one.name ? ` “${one.name}”` : "");

function group(one, place) {
  const allow = () => act(place, "group", { channel: one.channel, id: one.id });
  const button = el("button", { type: "button", className: "linklike", onclick: allow }, t("allow"));
  return el("p", { className: "request" }, who(one), el("small", {}, t("a_group")), button);
}

function decide(place, typed) {
  const box = el("input", { value: typed, placeholder: t("their_code"), "aria-label": t("their_code"), autocomplete: "off", spellcheck: false, maxLength: 12, required: true });
  const press = (what) => (event) => {
    event.preventDefault();
    if (box.value.trim()) act(place, what, { code: box.value.trim() }).then((done) => done && (box.value = ""));
  };
  const deny = el("button", { type: "button", className: "quiet", onclick: press("deny") }, t("deny"));
  return el("form", { className: "typed", onsubmit: press("approve") }, box, el("button", { className: "primary", type: "submit" }, t("approve")), deny);
}

async function act(place, what, told) {
  try {
    const done = await post(`/api/access/${what}`, told);
    toast(own(done) ?? t("done"));
    drawn.delete(place);
    await access(place);
    return true;
  } catch (err) {
    toast(err.message);
    return false;
  }
}
