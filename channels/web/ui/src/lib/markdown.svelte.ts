// Markdown as an allowlisted tree: HTML in it is text (but <details>), images are links, links are http, https or mailto.

import DOMPurify from "dompurify";
import { Lexer, Marked, Parser, type Token, type TokensList } from "marked";
import { el } from "./dom";
import { FORMULAS, escape } from "./formulas";
import { t } from "./locale.svelte";
import { TRUSTED } from "./trusted";

const LONGEST = 200_000;
const SAFE_LINK = /^(?:https?:\/\/|mailto:)/i;
const TAGS = ("p br hr h1 h2 h3 h4 h5 h6 strong em del code pre blockquote ul ol li " +
  "table thead tbody tr th td a sup section details summary").split(" ");

const marked = new Marked({
  extensions: FORMULAS,
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }) => escape(text),
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
    image: ({ href, text }) =>
      SAFE_LINK.test(href) ? `<a href="${escape(href)}">${escape(text || href)}</a>` : escape(text || href),
    link({ href, tokens, text }) {
      const inner = this.parser.parseInline(tokens);
      return SAFE_LINK.test(href) ? `<a href="${escape(href)}">${inner}</a>` : `${inner} (${escape(href || text)})`;
    },
  },
});

const PURE = {
  ...TRUSTED,
  ALLOWED_TAGS: TAGS,
  ALLOWED_ATTR: ["href", "align", "start", "class", "rel", "target", "open"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP: SAFE_LINK,
  ADD_URI_SAFE_ATTR: ["align", "start"], // all others are tested as addresses, and what is none is taken out
  RETURN_DOM_FRAGMENT: true as const,
};

const EXTENDED = /\[\^[^\]\s]|<details/i;
let tieNotes: ((tree: DocumentFragment) => void) | null = null;
let extending: Promise<void> | null = null;

/** Load footnotes and parts that fold: until then, and where they cannot be had, they are text. */
export function extend(): Promise<void> {
  extending ??= import("./notes").then((notes) => {
    marked.use({ extensions: notes.BLOCKS });
    tieNotes = notes.tieNotes;
  });
  extending.catch(() => (extending = null));
  return extending;
}

/** The text as nodes; plain text where it is too long or too deep to be parsed. */
export function render(text: string): Node {
  try {
    if (text.length > LONGEST) throw new RangeError("too long");
    const tree = finished(marked.parse(text, { async: false }));
    tieNotes?.(tree);
    return tree;
  } catch {
    return el("div", { className: "plain" }, text);
  }
}

/** Our renderer's HTML as nodes of the allowlist, with what it takes to read and to copy them. */
function finished(html: string): DocumentFragment {
  const tree = DOMPurify.sanitize(html, PURE);
  for (const link of tree.querySelectorAll("a")) {
    link.setAttribute("rel", "noopener noreferrer");
    link.setAttribute("target", "_blank");
  }
  for (const table of tree.querySelectorAll("table")) {
    const scroll = el("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": t("table") });
    table.replaceWith(scroll);
    scroll.append(table);
  }
  for (const summary of tree.querySelectorAll("summary:empty")) summary.textContent = t("more");
  for (const block of tree.querySelectorAll("pre")) frame(block);
  return tree;
}

const LAST_BLOCKS = 2;
// What one block may do to others: a definition serves links and notes before it, an open tag of these changes what follows.
const FAR = /^ {0,3}\[[^\]\n]+\]:|\[\^|<\/?(?:a|pre|code|kbd|script|details)[\s>]/im;

/**
 * A text that grows, in a box: its finished blocks stay as they are, only the last two are parsed again.
 * parsed: characters that were parsed so far.
 */
export class Growing {
  parsed = 0;
  private done = "";
  private last: ChildNode[] = [];
  private links: TokensList["links"] = {};

  constructor(private readonly box: HTMLElement) {
    this.clear();
  }

  clear(): void {
    this.done = "";
    this.last = [];
    this.links = {};
    this.box.replaceChildren();
  }

  /** Show the text as it is now. */
  show(text: string): void {
    const clean = text.replace(/\r\n?/g, "\n");
    if (!clean.startsWith(this.done)) this.clear();
    for (const node of this.last) node.remove();
    this.last = [];
    try {
      if (text.length > LONGEST) throw new RangeError("too long");
      this.grow(clean);
    } catch {
      this.clear();
      this.last = this.put(el("div", { className: "plain" }, text));
    }
  }

  private grow(text: string): void {
    const rest = text.slice(this.done.length);
    this.parsed += rest.length;
    const lexer = new Lexer(marked.defaults);
    Object.assign(lexer.tokens.links, this.links);
    const blocks = lexer.lex(rest);
    const cut = blocks.length - tail(blocks);
    const raw = blocks.slice(0, cut).map((block) => block.raw).join("");
    const ends = cut && rest.startsWith(raw) ? cut : 0;
    if (ends) {
      this.put(finished(Parser.parse(blocks.slice(0, ends), marked.defaults)));
      this.done += raw;
      Object.assign(this.links, lexer.tokens.links);
    }
    this.last = this.put(finished(Parser.parse(blocks.slice(ends), marked.defaults)));
  }

  private put(nodes: Node): ChildNode[] {
    const all = nodes instanceof DocumentFragment ? [...nodes.childNodes] : [nodes as ChildNode];
    this.box.append(...all);
    return all;
  }

  /** Show the whole text for good: as one parse of it would. */
  end(text: string): void {
    if (FAR.test(text)) this.box.replaceChildren(render(text));
    else this.show(text);
  }
}

/** How many tokens the last blocks are, with the blank lines between and after them. */
function tail(blocks: Token[]): number {
  let found = 0;
  let count = 0;
  while (count < blocks.length && found < LAST_BLOCKS) {
    count += 1;
    if (blocks[blocks.length - count]?.type !== "space") found += 1;
  }
  return count;
}

function frame(block: Element): void {
  const code = block.querySelector("code");
  const language = [...(code?.classList ?? [])].find((name) => name.startsWith("language-"))?.slice(9) ?? "";
  const button = el("button", { type: "button", className: "copy", onclick: () => void copy(button, block.textContent ?? "") }, t("copy"));
  const wrap = el("button", { type: "button", className: "small", "aria-pressed": false, onclick: () => {
    wrap.setAttribute("aria-pressed", String(block.classList.toggle("wrapped")));
  } }, t("wrap"));
  const head = el("div", { className: "code-head" }, el("span", { className: "grow" }, language), wrap, button);
  const box = el("div", { className: "code" }, head);
  block.replaceWith(box);
  block.setAttribute("tabindex", "0"); // a long line is scrolled to by the arrow keys
  block.setAttribute("role", "region");
  block.setAttribute("aria-label", language ? `${t("code")}: ${language}` : t("code"));
  box.append(block);
}

async function copy(button: HTMLElement, text: string): Promise<void> {
  await navigator.clipboard.writeText(text.replace(/\n$/, ""));
  button.textContent = t("copied");
  setTimeout(() => (button.textContent = t("copy")), 1500);
}

const SOONEST_MS = 40;

/** Colour the code and set the formulas in a box whose text has ended; what they take is loaded where there are any. */
async function finish(box: Element, text: string): Promise<void> {
  if (!tieNotes && EXTENDED.test(text)) {
    await extend().catch(() => {}); // it can be read without
    if (tieNotes) box.replaceChildren(render(text));
  }
  const code = [...box.querySelectorAll("pre code[class*='language-']")];
  const formulas = [...box.querySelectorAll("code.formula")];
  const tables = [...box.querySelectorAll(".scroll")];
  try {
    if (tables.length) {
      const { saveable } = await import("./tables");
      for (const one of tables) saveable(one);
    }
    if (code.length) {
      const { colour } = await import("./highlight");
      for (const one of code) colour(one, one.className.replace(/.*language-(\S+).*/, "$1").toLowerCase());
    }
    if (formulas.length) {
      const { typeset } = await import("./maths");
      for (const one of formulas) if (one.isConnected) typeset(one);
    }
  } catch {
    // The text can be read without.
  }
}

/** Svelte attachment that shows a text in a box: plain once, or as it grows. */
export function markdown(text: () => string, growing: () => boolean) {
  return (box: HTMLElement): (() => void) => {
    let shown: Growing | null = null;
    let due = 0;
    let pause = SOONEST_MS;
    $effect(() => {
      const words = text();
      if (!growing()) {
        clearTimeout(due);
        due = 0;
        if (shown) shown.end(words);
        else box.replaceChildren(render(words));
        void finish(box, words);
        return;
      }
      shown ??= new Growing(box);
      if (!tieNotes && EXTENDED.test(words)) void extend().catch(() => {});
      const grown = shown;
      due ||= window.setTimeout(() => {
        due = 0;
        const began = performance.now();
        grown.show(text());
        pause = Math.max(SOONEST_MS, 4 * (performance.now() - began)); // a block that grows long is parsed less often
      }, pause);
    });
    return () => clearTimeout(due);
  };
}
