// The memory files in the drawer: listed, searched, read, edited, and saved only over what was read.

import { call, filePath, get } from "./api.js";
import { el, toast } from "./dom.js";
import { drawer } from "./drawer.js";
import { size, t, when } from "./texts.js";

/** The list of files, with a search box above it. */
export async function open() {
  const { files } = await get("/api/memory/files");
  const results = el("div", { className: "results" });
  const box = el("input", { type: "search", placeholder: t("search"), "aria-label": t("search") });
  const form = el("form", { className: "search", onsubmit: (event) => search(event, box.value, results) }, box);
  const rows = files.map((file) => row(file.path, `${size(file.size)} · ${when(file.updated_at)}`, () => edit(file.path)));
  const empty = files.length ? null : el("p", { className: "dim" }, t("no_files"));
  drawer(t("memory"), [form, results, el("div", { className: "file-list" }, ...rows), empty].filter(Boolean));
}

const row = (name, more, onclick) =>
  el("button", { type: "button", className: "file", onclick }, el("span", {}, name), el("small", {}, more));

async function search(event, words, results) {
  event.preventDefault();
  if (!words.trim()) return results.replaceChildren();
  const found = (await get(`/api/memory/search?limit=20&q=${encodeURIComponent(words)}`)).results;
  results.replaceChildren(...(found.length ? found.map(result) : [el("p", { className: "dim" }, t("nothing"))]));
}

function result(found) {
  const where = [found.path, found.line && `:${found.line}`, found.date && ` · ${found.date}`].filter(Boolean).join("");
  const openable = found.path?.endsWith(".md") && !found.path.startsWith("spaces/");
  const node = el("button", { type: "button", className: "result", disabled: !openable }, el("span", {}, found.text), el("small", {}, where));
  node.onclick = () => edit(found.path);
  return node;
}

/** One file to read and edit; `onback` leads back to where it was opened from. */
export async function edit(path, onback = open) {
  const { body, headers } = await call("GET", filePath(path));
  let tag = headers.get("etag");
  let kept = body.text;
  const area = el("textarea", { className: "editor", value: kept, spellcheck: false, "aria-label": path });
  const note = el("p", { className: "dim", role: "status" }, `${size(body.size)} · ${when(body.updated_at)}`);
  const save = el("button", { type: "button", className: "primary", disabled: true }, t("save"));
  const changed = () => area.value !== kept;
  area.oninput = () => {
    save.disabled = !changed();
    note.textContent = changed() ? t("edited") : "";
  };
  save.onclick = async () => {
    save.disabled = true;
    const text = area.value;
    try {
      const { headers: fresh } = await call("PUT", filePath(path), { text }, { "if-match": tag });
      tag = fresh.get("etag");
      kept = text;
      note.textContent = t("saved");
      toast(t("saved"));
    } catch (err) {
      save.disabled = false;
      note.replaceChildren(err.status === 412 ? `${t("conflict")} ` : err.message);
      if (err.status === 412) note.append(el("button", { type: "button", className: "linklike", onclick: () => edit(path, onback) }, t("reread")));
    }
  };
  const leave = { onleave: () => !changed() || confirm(t("discard")), onback };
  drawer(path, [area, el("div", { className: "editor-foot" }, note, save)], leave);
}
