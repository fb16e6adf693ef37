// What lies over the page: the drawer, and on a phone the list. Each has an entry in the history, so that Back closes
// it, and on a phone what is behind it can be neither focused nor pressed.

import { byId } from "./dom.js";

const phone = matchMedia("(max-width: 720px)");
const open = []; // {name, close}, the topmost last; close() may say no by false
let leaving = 0;
let stepping = false;
let hash = location.hash;

const depth = () => history.state?.panels ?? 0;

/** A panel is open now. `close` closes it without a word to `closed`, and returns false where it stays. */
export function opened(name, close) {
  clearTimeout(leaving);
  hash = location.hash;
  const known = open.find((panel) => panel.name === name);
  if (known) known.close = close;
  else open.push({ name, close });
  if (!stepping) keep();
  settle();
}

/** The history has an entry for each panel. */
function keep() {
  if (depth() < open.length) history.pushState({ panels: open.length }, "");
}

/** A panel was closed in the page: its entry of the history goes, too. */
export function closed(name) {
  const at = open.findIndex((panel) => panel.name === name);
  if (at < 0) return;
  open.splice(at, 1);
  settle();
  clearTimeout(leaving);
  leaving = setTimeout(() => {
    if (depth() <= open.length) return;
    stepping = true; // until the browser has done it, which takes a while
    history.go(open.length - depth());
  });
}

/** Go to a conversation; an entry of the history that stands for a panel is used up by it. */
export function go(name) {
  clearTimeout(leaving);
  if (depth()) location.replace(`#${name}`);
  else location.hash = name;
}

export const isOpen = (name) => open.some((panel) => panel.name === name);

/** Close what lies on top, as Escape does. */
export function closeTop() {
  const top = open.at(-1);
  if (top && top.close() !== false) closed(top.name);
}

/** Back, or Forward: what is open beyond that entry is closed. */
function stepped() {
  if (stepping) {
    stepping = false;
    return keep();
  }
  if (location.hash !== hash) return; // to another conversation, which closes what does not belong to it
  while (open.length > depth()) {
    const top = open.at(-1);
    if (top.close() === false) {
      keep();
      break;
    }
    open.pop();
  }
  settle();
}

/** On a phone only what lies on top can be reached. */
function settle() {
  const top = phone.matches ? (open.at(-1)?.name ?? "page") : "";
  byId("side").inert = Boolean(top) && top !== "side";
  byId("main").inert = Boolean(top) && top !== "page";
  byId("drawer").inert = top === "side";
}

addEventListener("popstate", stepped);
addEventListener("hashchange", () => (hash = location.hash));
phone.addEventListener("change", settle);
if (depth()) history.replaceState(null, ""); // of a page that was there before a reload
settle();
