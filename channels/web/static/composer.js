// Where one writes: the growing text box, completion of commands, files with previews, and what is not sent yet.

import { byId, el, toast } from "./dom.js";
import { size, t, zh } from "./texts.js";

const MOST_FILES = 10;
const MOST_BYTES = 25e6;

export class Composer {
  constructor({ onsend, onstop }) {
    this.text = byId("text");
    this.files = [];
    this.commands = [];
    this.chosen = 0;
    this.name = "";
    this.onsend = onsend;
    byId("send").setAttribute("aria-label", t("send"));
    this.text.setAttribute("aria-controls", "completions");
    byId("completions").setAttribute("aria-label", t("commands"));
    byId("stop").setAttribute("aria-label", t("stop"));
    byId("attach").setAttribute("aria-label", t("attach"));
    byId("stop").onclick = onstop;
    byId("attach").onclick = () => byId("picker").click();
    byId("picker").onchange = () => this.add(byId("picker").files).then(() => (byId("picker").value = ""));
    byId("composer").onsubmit = (event) => this.submit(event);
    this.text.oninput = () => this.changed();
    this.text.onkeydown = (event) => this.key(event);
    this.text.onblur = () => setTimeout(() => this.complete([]), 150);
    this.text.onpaste = (event) => this.take(event, event.clipboardData.files);
    document.ondragover = (event) => event.preventDefault();
    document.ondrop = (event) => this.take(event, event.dataTransfer.files);
  }

  /** Write in this conversation from now on; its unsent text comes back. */
  open(name) {
    this.name = name;
    this.belongs("web");
    this.text.value = localStorage.getItem(`mnema.text.${name}`) ?? "";
    this.files = [];
    this.show();
    this.changed();
    if (matchMedia("(pointer: fine)").matches) this.text.focus();
  }

  /** Whether one can write in it here: not in a conversation of another channel. */
  belongs(channel) {
    this.text.disabled = channel !== "web" && channel !== "terminal";
    this.text.placeholder = this.text.disabled ? t("readonly", { channel }) : t("placeholder");
    byId("send").disabled = byId("attach").disabled = this.text.disabled;
  }

  busy(yes) {
    byId("stop").hidden = !yes;
  }

  submit(event) {
    event.preventDefault();
    const text = this.text.value.trimEnd();
    if (this.text.disabled || (!text && !this.files.length)) return;
    this.onsend(text, this.files);
    this.files = [];
    this.text.value = "";
    this.show();
    this.changed();
  }

  changed() {
    const { text } = this;
    text.style.height = "auto";
    text.style.height = `${Math.min(text.scrollHeight, innerHeight * 0.4)}px`;
    if (text.value) localStorage.setItem(`mnema.text.${this.name}`, text.value);
    else localStorage.removeItem(`mnema.text.${this.name}`);
    const typed = /^\/(\S*)$/.exec(text.value);
    const found = typed ? this.commands.filter((command) => command.name.startsWith(typed[1])) : [];
    this.chosen = Math.max(0, found.findIndex((command) => command.name === typed[1]));
    this.complete(found);
  }

  complete(found) {
    this.found = found;
    this.chosen = Math.min(this.chosen, Math.max(0, found.length - 1));
    const rows = found.map((command, at) =>
      el(
        "div",
        { className: "completion", id: `completion-${at}`, role: "option", "aria-selected": String(at === this.chosen), onmousedown: (event) => this.pick(event, at) },
        el("b", {}, `/${command.name}`),
        el("span", { className: "usage" }, command.usage ?? ""),
        el("span", {}, (zh ? command.zh : command.en) ?? ""),
      ),
    );
    byId("completions").replaceChildren(...rows);
    byId("completions").hidden = !found.length;
    rows[this.chosen]?.scrollIntoView({ block: "nearest" });
    this.text.toggleAttribute("aria-activedescendant", false);
    if (found.length) this.text.setAttribute("aria-activedescendant", `completion-${this.chosen}`);
  }

  /** Enter takes the highlighted command, and sends it unless it needs words that are still to be written. */
  enter(event) {
    const command = this.found?.[this.chosen];
    const typed = this.text.value.trim().slice(1);
    if (!command || command.name === typed) return this.submit(event);
    this.pick(event, this.chosen);
    if (!command.usage || command.usage.startsWith("[")) this.submit(event);
  }

  pick(event, at) {
    event.preventDefault();
    this.text.value = `/${this.found[at].name} `;
    this.chosen = 0;
    this.changed();
    this.text.focus();
  }

  key(event) {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (this.found?.length && step) {
      event.preventDefault();
      this.chosen = (this.chosen + step + this.found.length) % this.found.length;
      this.complete(this.found);
    } else if (this.found?.length && event.key === "Tab") {
      this.pick(event, this.chosen);
    } else if (event.key === "Escape" && this.found?.length) {
      event.stopPropagation();
      this.complete([]);
    } else if (event.key === "Enter" && !event.shiftKey && matchMedia("(pointer: fine)").matches) {
      this.enter(event);
    }
  }

  take(event, files) {
    if (!files.length) return;
    event.preventDefault();
    this.add(files);
  }

  async add(files) {
    if (this.text.disabled) return;
    for (const file of files) {
      const total = this.files.reduce((sum, one) => sum + one.size, 0) + file.size;
      if (this.files.length >= MOST_FILES || total > MOST_BYTES) {
        toast(t("too_many_files"));
        break;
      }
      const data = (await dataUrl(file)).split(",", 2)[1] ?? "";
      if (data) this.files.push({ name: file.name, media_type: file.type || "application/octet-stream", data, size: file.size });
    }
    this.show();
  }

  show() {
    const chips = this.files.map((file, at) => {
      const gone = el("button", { type: "button", className: "x", "aria-label": t("remove"), onclick: () => this.drop(at) }, "×");
      const shot = file.media_type.startsWith("image/") && !file.media_type.includes("svg");
      const seen = shot ? el("img", { alt: "", src: `data:${file.media_type};base64,${file.data}` }) : null;
      return el("span", { className: "chip" }, seen, el("span", {}, file.name), el("small", {}, size(file.size)), gone);
    });
    byId("files").replaceChildren(...chips);
    byId("files").hidden = !chips.length;
  }

  drop(at) {
    this.files.splice(at, 1);
    this.show();
  }
}

function dataUrl(file) {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.onerror = () => failed(reader.error);
    reader.readAsDataURL(file);
  });
}
