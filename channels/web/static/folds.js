// The folds of a conversation: how one goes on right now, and all of them on a time line.

import { byId, el, toast } from "./dom.js";
import * as memory from "./memory.js";
import { moment, number, saved, t, turnsOf } from "./texts.js";

const STEPS = ["planned", "summarised", "logged", "folded"];
const STANDS = { digest: "summarised", checked: "summarised" };
const ENDS = ["folded", "stale"];
const SEEN_FOR = 4000;
let over = 0;

/** One fold's newest state, in a line over the conversation; it goes away when the fold has ended. */
export function progress(fold) {
  clearTimeout(over);
  const turns = turnsOf(fold.from_turn, fold.to_turn);
  const values = {
    turns,
    before: number(fold.tokens_before),
    after: number(fold.tokens_after),
    saved: saved(fold.tokens_before, fold.tokens_after),
  };
  const state = fold.state === "checked" ? "summarised" : fold.state;
  const at = STEPS.indexOf(STANDS[state] ?? state);
  const steps = STEPS.map((step, place) =>
    el("li", { className: place <= at ? "done" : place === at + 1 ? "at" : "" }, t(`step_${step}`)),
  );
  byId("folding").replaceChildren(
    el("span", { className: ENDS.includes(state) ? "said" : "said working" }, t(`fold_${state}`, values)),
    state === "stale" ? "" : el("ol", { className: "steps", "aria-hidden": "true" }, ...steps),
  );
  byId("folding").hidden = false;
  if (ENDS.includes(state)) over = setTimeout(quiet, SEEN_FOR);
}

/** No fold is to be told of here any more. */
export function quiet() {
  clearTimeout(over);
  byId("folding").hidden = true;
  byId("folding").replaceChildren();
}

/** A line of time, newest first: what is in view now, and every fold; `onback` leads back from a file. */
export function timeline(facts, onback) {
  const view = facts.live_turns?.length ? turnsOf(...facts.live_turns) : t("nothing_yet");
  const now = el("li", { className: "event now" }, el("span", { className: "what" }, t("in_view", { turns: view })));
  const none = facts.folds.length ? null : el("p", { className: "dim" }, t("no_folds"));
  const events = facts.folds.toReversed().map((fold) => event(fold, onback));
  return [el("ol", { className: "timeline" }, now, ...events), none].filter(Boolean);
}

function event(fold, onback) {
  const why = whyOf(fold);
  const method = t(fold.method === "extract" ? "by_extract" : "by_model");
  const head = el(
    "summary",
    { title: `${why} ${method}` },
    el("time", { dateTime: fold.at }, moment(fold.at)),
    el("span", { className: "what" }, turnsOf(fold.from_turn, fold.to_turn)),
    el("span", { className: "change" }, `${number(fold.tokens_before)} → ${number(fold.tokens_after)}`),
    el("b", {}, saved(fold.tokens_before, fold.tokens_after)),
  );
  const more = el("div", { className: "more" }, el("p", {}, why), el("p", { className: "dim" }, method), file(fold.file, onback));
  const node = el("details", {}, head, more);
  node.dataset.id = fold.id;
  return el("li", { className: `event ${fold.method}` }, node);
}

/** Why the fold was made, and why it was cut where it was. */
function whyOf(fold) {
  const key = `reason_${(fold.reason ?? "").replace(/\W+/g, "_").replace(/^_/, "")}`;
  const reason = t(key) === key ? (fold.reason ?? "") : t(key);
  if (!fold.why) return reason;
  const terms = fold.why.terms.map(([name, points]) => `${t(`term_${name}`)} ${points > 0 ? "+" : ""}${points}`);
  const values = { turn: fold.to_turn + 1, count: fold.why.candidates, score: fold.why.score, terms: terms.join(", ") };
  return `${reason} ${t("cut_at", values)}`;
}

function file(path, onback) {
  if (!path) return "";
  if (!/^memory\/[^/]+\.md$/.test(path)) return el("small", {}, path);
  const read = () => memory.edit(path, onback).catch((err) => toast(err.message));
  return el("button", { type: "button", className: "linklike", onclick: read }, path);
}
