// The panel at the right (on a phone: over everything), one thing in it at a time.

import { byId, el } from "./dom.js";
import * as panels from "./panels.js";
import { t } from "./texts.js";

let leave = () => true;
let opener = null;

/** Show nodes under a title; `onleave` may say no to going away, `onback` adds a way back, `kind` names what is shown. */
export function drawer(title, nodes, { onleave = () => true, onback = null, kind = "" } = {}) {
  leave = onleave;
  const opening = byId("drawer").hidden;
  if (opening) opener = document.activeElement;
  byId("drawer").dataset.kind = kind;
  const back = onback
    ? el("button", { type: "button", className: "icon", "aria-label": t("back"), onclick: () => leave() && onback() }, "‹")
    : null;
  const shut = el("button", { type: "button", className: "icon", "aria-label": t("close"), onclick: close }, "×");
  const head = el("header", { className: "drawer-head" }, back, el("h2", {}, title), shut);
  byId("drawer").replaceChildren(head, el("div", { className: "drawer-body" }, ...nodes));
  byId("drawer").setAttribute("aria-label", title);
  byId("drawer").hidden = false;
  panels.opened("drawer", put);
  if (opening) shut.focus();
}

/** The body of the drawer if it shows that kind of thing now, else null. */
export function shown(kind) {
  const node = byId("drawer");
  return !node.hidden && node.dataset.kind === kind ? node.querySelector(".drawer-body") : null;
}

/** Whether it is shut now. */
export function close() {
  if (!put()) return false;
  panels.closed("drawer");
  return true;
}

/** Put it away unless what is in it says no; what opened it has the focus again. */
function put() {
  if (!leave()) return false;
  leave = () => true;
  byId("drawer").hidden = true;
  byId("drawer").replaceChildren();
  const back = opener;
  opener = null;
  setTimeout(() => back?.isConnected && back.focus()); // once what is behind can have it
  return true;
}
