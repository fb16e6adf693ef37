// The panel at the right (on a phone: over everything), one thing in it at a time.

import { byId, el } from "./dom.js";
import { t } from "./texts.js";

let leave = () => true;

/** Show nodes under a title; `onleave` may say no to going away, `onback` adds a way back. */
export function drawer(title, nodes, { onleave = () => true, onback = null } = {}) {
  leave = onleave;
  const back = onback
    ? el("button", { type: "button", className: "icon", "aria-label": t("back"), onclick: () => leave() && onback() }, "‹")
    : null;
  const shut = el("button", { type: "button", className: "icon", "aria-label": t("close"), onclick: close }, "×");
  const head = el("header", { className: "drawer-head" }, back, el("h2", {}, title), shut);
  byId("drawer").replaceChildren(head, el("div", { className: "drawer-body" }, ...nodes));
  byId("drawer").hidden = false;
}

/** Whether it is shut now. */
export function close() {
  if (!leave()) return false;
  leave = () => true;
  byId("drawer").hidden = true;
  byId("drawer").replaceChildren();
  return true;
}
