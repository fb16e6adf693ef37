// The models in the drawer: how each of them fares, what was used, what it cost, and by whom.

import { get } from "./api.js";
import { el } from "./dom.js";
import { drawer } from "./drawer.js";
import { number, t } from "./texts.js";

const SPANS = ["today", "month", "30_days"];

/** Everything at once, as it is now. */
export async function open() {
  const [{ models }, used] = await Promise.all([get("/api/status"), get("/api/usage")]);
  const spans = SPANS.map((name) => span(t(`span_${name}`), used[name], used[`${name}_people`]));
  drawer(t("models"), [el("div", { className: "channels" }, ...models.map(model), ...spans)], { kind: "models" });
}

function model(state) {
  const again = state.asked_again_in === null ? t("after_a_change") : t("asked_again", { seconds: number(state.asked_again_in) });
  const mood = el("span", { className: "mood" }, t(`model_${state.state}`));
  const node = el("section", { className: "channel", "aria-label": state.name }, el("h3", {}, state.name, mood));
  node.classList.toggle("well", state.up);
  if (!state.up) node.append(el("p", { className: "why" }, state.why), el("p", { className: "dim" }, again));
  return node;
}

function span(title, rows, people) {
  const node = el("section", { className: "usage", "aria-label": title }, el("h3", {}, title));
  if (!rows.length) node.append(el("p", { className: "dim" }, t("nothing_used")));
  else node.append(table(rows.map(ofModel)));
  if (people.length > 1) node.append(table(people.map(ofPerson)));
  return node;
}

const table = (rows) => el("dl", { className: "facts" }, ...rows.flat());

const ofModel = (row) => [
  el("dt", {}, `${row.model} · ${t(`for_${row.purpose}`)}`),
  el("dd", {}, `${t("calls", { calls: number(row.calls) })}, ${number(row.input)} → ${number(row.output)}, ${price(row.cost)}`),
];

const ofPerson = (row) => [
  el("dt", {}, row.who || t("groups_and_earlier")),
  el("dd", {}, `${number(row.tokens)}, ${price(row.cost)}${row.unpriced.length ? " +" : ""}`),
];

const price = (cost) => (cost === null ? t("price_unknown") : `US$ ${cost >= 0.1 || !cost ? cost.toFixed(2) : cost.toPrecision(2)}`);
