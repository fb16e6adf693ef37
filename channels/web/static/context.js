// How full the context is: a bar in the head of the page, and all its numbers in the drawer.

import { conversationPath, get } from "./api.js";
import { byId, el } from "./dom.js";
import { close, drawer, shown } from "./drawer.js";
import { progress, timeline } from "./folds.js";
import { leftOut, number, t } from "./texts.js";

const KIND = "context";
const PARTS = ["system", "tools", "summary", "history", "running"];
const NAMED = { rules: "rules", awareness: "awareness", log: "log" };
let newest = null;
let asked = 0;

/** Read the numbers anew and show them; without a conversation, or any numbers, the bar is hidden. */
export async function refresh(name) {
  const mine = ++asked;
  const facts = name ? await get(conversationPath(name, "context")).catch(() => null) : null;
  if (mine !== asked) return;
  newest = facts;
  byId("context").hidden = !facts;
  if (!facts) return;
  byId("context-bar").replaceChildren(...segments(facts));
  byId("context-name").textContent = `${t("context")}: `; // the button's name holds the words that are seen on it
  byId("context-text").replaceChildren(
    el("span", { className: "wide-only" }, `${number(facts.tokens)} / ${number(facts.max_tokens)} · `),
    el("span", { className: "narrow-only" }, `${share(facts.tokens, facts.max_tokens)} · `),
    el("span", {}, `${facts.turns}/${facts.max_turns} ${t("turns")}`),
  );
  byId("context").title = PARTS.map((part) => `${t(part)} ${number(facts.parts[part])}`).join(" · ");
  if (facts.folding && byId("folding").hidden) progress(facts.folding);
  redraw();
}

/** All of it, in the drawer. */
export function open() {
  if (newest) drawer(t("context"), body(newest), { kind: KIND });
}

/** Another conversation is opened: these numbers are not its own. */
export function leave() {
  asked += 1;
  newest = null;
  byId("context").hidden = true;
  if (shown(KIND)) close();
}

/** The drawer as it was, with the newest numbers: what was unfolded, focused and scrolled to stays so. */
function redraw() {
  const box = shown(KIND);
  if (!box) return;
  const unfolded = [...box.querySelectorAll("details[open]")].map((node) => node.dataset.id);
  const focused = document.activeElement?.closest?.("details")?.dataset.id;
  const top = box.scrollTop;
  box.replaceChildren(...body(newest));
  for (const node of box.querySelectorAll("details")) {
    node.open = unfolded.includes(node.dataset.id);
    if (node.dataset.id === focused) node.querySelector("summary").focus({ preventScroll: true });
  }
  box.scrollTop = top;
}

function body(facts) {
  return [
    el("div", { className: "scale" }, el("div", { className: "bar tall", role: "img", "aria-label": label(facts) }, ...segments(facts)), mark(facts)),
    measure(facts.tokens, facts.max_tokens, t("tokens")),
    el("div", { className: "bar thin", "aria-hidden": "true" }, filled(facts.turns, facts.max_turns)),
    measure(facts.turns, facts.max_turns, t("turns")),
    el("ul", { className: "legend" }, ...PARTS.map((part) => legend(part, facts)), rest(facts)),
    ...cuts(facts),
    el("dl", { className: "facts" }, ...rows(facts)),
    el("h3", {}, t("folds")),
    ...timeline(facts, open),
  ];
}

function share(part, whole) {
  const hundredths = (100 * part) / Math.max(1, whole);
  return hundredths > 0 && hundredths < 0.5 ? "<1%" : `${Math.round(hundredths)}%`;
}

const percent = (part, whole) => `${Math.min(100, (100 * part) / Math.max(1, whole))}%`;
const label = (facts) =>
  t("context_label", { tokens: number(facts.tokens), most: number(facts.max_tokens), turns: facts.turns, turns_most: facts.max_turns });

function segments(facts) {
  // A view may be longer than its limit: then the bar shows how it is made up.
  const whole = Math.max(facts.max_tokens, facts.tokens);
  return PARTS.filter((part) => facts.parts[part] > 0).map((part) => {
    const segment = el("i", { className: `part ${part}`, title: `${t(part)} ${number(facts.parts[part])}` });
    segment.style.width = percent(facts.parts[part], whole);
    return segment;
  });
}

/** A tick where the next fold by tokens is due. */
function mark(facts) {
  const next = (facts.next_fold ?? []).find((one) => one.unit === "tokens");
  if (!next || next.at >= facts.max_tokens) return null;
  const tick = el("i", { className: "tick", title: `${t("next_fold")} ${t("mark_tokens", { at: number(next.at) })}` });
  tick.style.left = percent(next.at, facts.max_tokens);
  return tick;
}

function filled(used, most) {
  const node = el("i", { className: "part used" });
  node.style.width = percent(used, most);
  return node;
}

const measure = (used, most, unit) =>
  el("p", { className: "sum" }, el("span", {}, `${number(used)} / ${number(most)} ${unit}`), el("span", { className: "dim" }, share(used, most)));

function legend(part, facts) {
  const tokens = facts.parts[part] ?? 0;
  const row = line(part, t(part), tokens, facts.max_tokens);
  if (part !== "system" || !facts.system_parts?.length) return row;
  const inner = facts.system_parts.map((one) => line("", named(one.name), one.tokens, facts.max_tokens));
  row.append(el("ul", {}, ...inner));
  return row;
}

const named = (name) => (NAMED[name] ? t(NAMED[name]) : name);
const line = (part, name, tokens, most) =>
  el(
    "li",
    {},
    el("i", { className: part ? `part ${part}` : "part none" }),
    el("span", {}, name),
    el("b", {}, number(tokens)),
    el("small", {}, share(tokens, most)),
  );

function rest(facts) {
  return line("free", t("free"), Math.max(0, facts.max_tokens - facts.tokens), facts.max_tokens);
}

/** What was cut from MEMORY.md or the diary, by name. */
function cuts(facts) {
  const cut = (facts.system_parts ?? []).filter((one) => one.left_out?.length);
  return cut.map((one) =>
    el("p", { className: "cut" }, el("b", {}, named(one.name)), ` · ${t("left_out", { what: one.left_out.map(leftOut).join(", ") })}`),
  );
}

function rows(facts) {
  const { counter, roles } = facts;
  const factor = (counter?.factor ?? 1).toFixed(2);
  const values = { name: counter?.name ?? "", factor, error: (counter?.last_error_percent ?? 0).toFixed(1) };
  const told = [
    [t("next_fold"), nextFold(facts)],
    [t("room"), facts.budget < facts.max_tokens ? number(facts.budget) : ""],
    [t("policy"), facts.policy_own ? t("policy_own", { policy: facts.policy }) : facts.policy],
    [t("messages"), t("roles", { all: number(facts.messages), user: roles?.user ?? 0, assistant: roles?.assistant ?? 0 })],
    [t("characters"), number(facts.characters)],
    [t("counter"), t("counter_value", values)],
    [t("cache"), share(facts.cache_share ?? 0, 1)],
  ];
  return told.filter(([, value]) => value).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))]);
}

const nextFold = (facts) =>
  (facts.next_fold ?? []).map((one) => t(`mark_${one.unit}`, { at: number(one.at), now: number(one.now) })).join(t("or"));
