// Markdown as an allowlisted tree: HTML in it is text, images are links, links are http, https or mailto.

import { Lexer, Marked, Parser } from "./vendor/marked.js";
import DOMPurify from "./vendor/purify.js";
import { el } from "./dom.js";
import { t } from "./texts.js";

const LONGEST = 200_000;
const SAFE_LINK = /^(?:https?:\/\/|mailto:)/i;
const TAGS = ("p br hr h1 h2 h3 h4 h5 h6 strong em del code pre blockquote ul ol li " +
  "table thead tbody tr th td a").split(" ");
const escape = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

const marked = new Marked({
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
  ALLOWED_TAGS: TAGS,
  ALLOWED_ATTR: ["href", "align", "start", "class", "rel", "target"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP: SAFE_LINK,
  ADD_URI_SAFE_ATTR: ["align", "start"], // all others are tested as addresses, and what is none is taken out
  RETURN_DOM_FRAGMENT: true,
};

/** The text as nodes; plain text where it is too long or too deep to be parsed. */
export function render(text) {
  try {
    if (text.length > LONGEST) throw new RangeError("too long");
    return finished(marked.parse(text));
  } catch {
    return el("div", { className: "plain" }, text);
  }
}

/** Our renderer's HTML as nodes of the allowlist, with what it takes to read and to copy them. */
function finished(html) {
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
  for (const block of tree.querySelectorAll("pre")) frame(block);
  return tree;
}

const LAST_BLOCKS = 2;
// What one block may do to others: a definition serves links before it, an open tag of these changes what follows.
const FAR = /^ {0,3}\[[^\]\n]+\]:|<\/?(?:a|pre|code|kbd|script)[\s>]/im;

/**
 * A text that grows, in a box: its finished blocks stay as they are, only the last two are parsed again.
 * parsed: characters that were parsed so far.
 */
export class Growing {
  constructor(box) {
    this.box = box;
    this.parsed = 0;
    this.clear();
  }

  clear() {
    this.done = "";
    this.last = [];
    this.links = {};
    this.box.replaceChildren();
  }

  /** Show the text as it is now. */
  show(text) {
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

  grow(text) {
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

  put(nodes) {
    const all = nodes instanceof DocumentFragment ? [...nodes.childNodes] : [nodes];
    this.box.append(...all);
    return all;
  }

  /** Show the whole text for good: as one parse of it would. */
  end(text) {
    if (FAR.test(text)) this.box.replaceChildren(render(text));
    else this.show(text);
  }
}

/** How many tokens the last blocks are, with the blank lines between and after them. */
function tail(blocks) {
  let found = 0;
  let count = 0;
  while (count < blocks.length && found < LAST_BLOCKS) {
    count += 1;
    if (blocks[blocks.length - count].type !== "space") found += 1;
  }
  return count;
}

function frame(block) {
  const code = block.querySelector("code");
  const language = [...(code?.classList ?? [])].find((name) => name.startsWith("language-"))?.slice(9) ?? "";
  const button = el("button", { type: "button", className: "copy", onclick: () => copy(button, block.textContent) }, t("copy"));
  const box = el("div", { className: "code" }, el("div", { className: "code-head" }, el("span", {}, language), button));
  block.replaceWith(box);
  block.tabIndex = 0; // a long line is scrolled to by the arrow keys
  block.setAttribute("role", "region");
  block.setAttribute("aria-label", language ? `${t("code")}: ${language}` : t("code"));
  box.append(block);
}

async function copy(button, text) {
  await navigator.clipboard.writeText(text.replace(/\n$/, ""));
  button.textContent = t("copied");
  setTimeout(() => (button.textContent = t("copy")), 1500);
}
