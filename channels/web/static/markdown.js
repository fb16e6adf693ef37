// Markdown as an allowlisted tree: HTML in it is text, images are links, links are http, https or mailto.

import { Marked } from "./vendor/marked.js";
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
  RETURN_DOM_FRAGMENT: true,
};

/** The text as nodes; plain text where it is too long or too deep to be parsed. */
export function render(text) {
  let tree;
  try {
    if (text.length > LONGEST) throw new RangeError("too long");
    tree = DOMPurify.sanitize(marked.parse(text), PURE);
  } catch {
    return el("div", { className: "plain" }, text);
  }
  for (const link of tree.querySelectorAll("a")) {
    link.setAttribute("rel", "noopener noreferrer");
    link.setAttribute("target", "_blank");
  }
  for (const table of tree.querySelectorAll("table")) {
    const scroll = el("div", { className: "scroll" });
    table.replaceWith(scroll);
    scroll.append(table);
  }
  for (const block of tree.querySelectorAll("pre")) frame(block);
  return tree;
}

function frame(block) {
  const code = block.querySelector("code");
  const language = [...(code?.classList ?? [])].find((name) => name.startsWith("language-"))?.slice(9) ?? "";
  const button = el("button", { type: "button", className: "copy", onclick: () => copy(button, block.textContent) }, t("copy"));
  const box = el("div", { className: "code" }, el("div", { className: "code-head" }, el("span", {}, language), button));
  block.replaceWith(box);
  box.append(block);
}

async function copy(button, text) {
  await navigator.clipboard.writeText(text.replace(/\n$/, ""));
  button.textContent = t("copied");
  setTimeout(() => (button.textContent = t("copy")), 1500);
}
