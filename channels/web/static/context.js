// How full the context is: a bar in the head of the page, and all its numbers in the drawer.

import { conversationPath, get } from "./api.js";
import { byId, el } from "./dom.js";
import { number, t, when } from "./texts.js";
import { drawer } from "./drawer.js";

const PARTS = ["system", "tools", "summary", "history", "running"];
let newest = null;

/** Read the numbers anew and show them; without a conversation, or any numbers, the bar is hidden. */
export async function refresh(name) {
  newest = name ? await get(conversationPath(name, "context")).catch(() => null) : null;
  byId("context").hidden = !newest;
  if (!newest) return;
  byId("context-bar").replaceChildren(...segments(newest));
  byId("context-text").textContent =
    `${number(newest.tokens)} / ${number(newest.max_tokens)} · ${newest.turns}/${newest.max_turns} ${t("turns")}`;
  byId("context").title = PARTS.map((part) => `${t(part)} ${number(newest.parts[part])}`).join(" · ");
}

/** All of it, in the drawer. */
export function open() {
  if (!newest) return;
  const facts = newest;
  drawer(t("context"), [
    el("div", { className: "bar tall" }, ...segments(facts)),
    el("p", { className: "sum" }, `${number(facts.tokens)} / ${number(facts.max_tokens)} ${t("tokens")}`),
    el("ul", { className: "legend" }, ...PARTS.map((part) => legend(part, facts.parts[part] ?? 0))),
    el("dl", { className: "facts" }, ...rows(facts)),
    el("h3", {}, `${facts.folds.length} ${t("folds")}`),
    ...folds(facts.folds),
  ]);
}

function segments(facts) {
  return PARTS.filter((part) => facts.parts[part] > 0).map((part) => {
    const segment = el("i", { className: `part ${part}`, title: `${t(part)} ${number(facts.parts[part])}` });
    segment.style.width = `${Math.min(100, (100 * facts.parts[part]) / Math.max(1, facts.max_tokens))}%`;
    return segment;
  });
}

const legend = (part, tokens) =>
  el("li", {}, el("i", { className: `part ${part}` }), el("span", {}, t(part)), el("b", {}, number(tokens)));

function rows(facts) {
  const shown = [
    [t("turns"), `${facts.turns} / ${facts.max_turns}`],
    [t("messages"), number(facts.messages)],
    [t("characters"), number(facts.characters)],
    [t("policy"), facts.policy],
    [t("counter"), `${facts.counter?.name ?? ""} · ${t("last_error")} ${(facts.counter?.last_error_percent ?? 0).toFixed(1)} %`],
    [t("cache"), `${Math.round(100 * (facts.cache_share ?? 0))} %`],
  ];
  return shown.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))]);
}

function folds(list) {
  if (!list.length) return [el("p", { className: "dim" }, t("no_folds"))];
  return list.toReversed().map((fold) => {
    const values = { from: fold.from_turn, to: fold.to_turn, before: number(fold.tokens_before), after: number(fold.tokens_after) };
    const where = el("small", {}, `${when(fold.at)} · ${fold.method} · ${fold.file}`);
    return el("div", { className: "fold" }, el("span", {}, t("fold_row", values)), where);
  });
}
