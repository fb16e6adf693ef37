// The memory in the drawer: searched, its files listed, read, edited, and saved only over what was read.

import { call, filePath, get } from "./api.js";
import { el, toast } from "./dom.js";
import { close, drawer, shown } from "./drawer.js";
import { go } from "./panels.js";
import { size, t, when } from "./texts.js";

const MOST = 20;
const GROUPS = [
  ["notes", (path) => !path.startsWith("memory/")],
  ["diary", (path) => /^memory\/[^/]+$/.test(path)],
  ["nights", (path) => /^memory\/.+\//.test(path)],
];
let asked = "";

/** The search box with what it found last, and the list of files. */
export async function open() {
  const { files } = await get("/api/memory/files");
  const results = el("div", { className: "results", role: "status" });
  const box = el("input", { type: "search", value: asked, placeholder: t("search"), "aria-label": t("search"), enterKeyHint: "search" });
  const look = (event) => {
    event?.preventDefault();
    search(box.value.trim(), results).catch((err) => toast(err.message));
  };
  box.onsearch = () => box.value || look(); // emptied by its cross; Enter is the form's
  const form = el("form", { className: "search", onsubmit: look }, box);
  const lists = GROUPS.flatMap(([name, belongs]) => group(name, files.filter((file) => belongs(file.path))));
  const empty = files.length ? null : el("p", { className: "dim" }, t("no_files"));
  drawer(t("memory"), [form, results, ...lists, empty].filter(Boolean), { kind: "memory" });
  if (asked) look();
}

/** A heading and its files; days with the newest first. */
function group(name, files) {
  if (!files.length) return [];
  const sorted = name === "notes" ? files : files.toReversed();
  const rows = sorted.map((file) => row(file.path, `${size(file.size)} · ${when(file.updated_at)}`, () => show(file.path)));
  return [el("h3", {}, t(name)), el("div", { className: "file-list" }, ...rows)];
}

const row = (name, more, onclick) =>
  el("button", { type: "button", className: "file", onclick }, el("span", {}, name), el("small", {}, more));

async function search(words, results) {
  asked = words;
  if (!words) return results.replaceChildren();
  const found = (await get(`/api/memory/search?limit=${MOST}&q=${encodeURIComponent(words)}`)).results;
  if (words !== asked || !shown("memory")) return; // something else was asked meanwhile
  results.replaceChildren(...(found.length ? found.map(result) : [el("p", { className: "dim" }, t("nothing"))]));
}

/** What was found, and where: a line of a file, which opens there, or a turn, whose conversation opens. */
function result(found) {
  const where = found.path ? found.source : t("said_in", { turn: found.turn });
  const date = found.date && !found.text.includes(found.date) ? ` · ${found.date}` : "";
  const openable = found.path ? !found.path.startsWith("spaces/") : Boolean(found.conversation);
  const node = el("button", { type: "button", className: "result", disabled: !openable }, el("span", {}, found.text), el("small", {}, where + date));
  node.onclick = () => (found.path ? show(found.path, found.line) : close() && go(found.conversation));
  return node;
}

const show = (path, line) => edit(path, open, line).catch((err) => toast(err.message));

/** One file to read and edit, at a line if one is named; `onback` leads back to where it was opened from. */
export async function edit(path, onback = open, line = 0) {
  const { body, headers } = await call("GET", filePath(path));
  const file = { path, tag: headers.get("etag"), kept: body.text };
  const area = el("textarea", { className: "editor", value: file.kept, spellcheck: false, "aria-label": path });
  const note = el("p", { className: "dim", role: "status" }, `${size(body.size)} · ${when(body.updated_at)}`);
  const save = el("button", { type: "button", className: "primary", disabled: true }, t("save"));
  const theirs = el("div", { className: "theirs", hidden: true });
  const changed = () => area.value !== file.kept;
  area.oninput = () => {
    save.disabled = !changed();
    note.textContent = changed() ? t("edited") : "";
  };
  save.onclick = () => {
    save.disabled = true;
    put(file, area.value)
      .then(() => {
        theirs.hidden = true;
        save.disabled = !changed();
        note.textContent = t("saved");
        toast(t("saved"));
      })
      .catch(async (err) => {
        save.disabled = false;
        note.textContent = err.status === 412 ? t("conflict") : err.message;
        if (err.status === 412) await conflict(file, area, theirs);
      })
      .catch((err) => (note.textContent = err.message));
  };
  const leave = { onleave: () => !changed() || confirm(t("discard")), onback };
  drawer(path, [area, theirs, el("div", { className: "editor-foot" }, note, save)], leave);
  if (line) jump(area, line);
}

/** Save over what was read; a file that somebody took away meanwhile is made again. */
async function put(file, text) {
  const over = file.tag ? { "if-match": file.tag } : { "if-none-match": "*" };
  const { headers } = await call("PUT", filePath(file.path), { text }, over);
  file.tag = headers.get("etag");
  file.kept = text;
}

/** Somebody else's text below the one that was being written: both stay until one is chosen. */
async function conflict(file, area, theirs) {
  const { body, headers } = await call("GET", filePath(file.path)).catch((err) => {
    if (err.status === 404) return { body: { text: "" }, headers: new Headers() };
    throw err;
  });
  file.tag = headers.get("etag");
  file.kept = body.text;
  const take = () => {
    area.value = file.kept;
    area.oninput();
    theirs.hidden = true;
  };
  theirs.replaceChildren(
    el("h3", {}, t("theirs")),
    el("textarea", { className: "editor", value: file.kept, readOnly: true, "aria-label": t("theirs") }),
    el("button", { type: "button", className: "linklike", onclick: take }, t("take_theirs")),
  );
  theirs.hidden = false;
}

/** Select a line and bring it into view, however the lines above it are wrapped. */
function jump(area, line) {
  const whole = area.value;
  const lines = whole.split("\n");
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  area.value = whole.slice(0, start + (lines[line - 1] ?? "").length);
  area.scrollTop = area.scrollHeight;
  const down = area.scrollTop ? area.scrollTop + area.clientHeight / 2 : 0;
  area.value = whole;
  area.scrollTop = down;
  area.focus({ preventScroll: true });
  area.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
}
