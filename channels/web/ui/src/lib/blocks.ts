// Footnotes, and parts that fold: <details> is the only HTML in Markdown that is more than text.

import type { TokenizerAndRendererExtension, Tokens } from "marked";
import { escape } from "./formulas";

const MOST_DEEP = 6; // such blocks within each other; what is deeper is text
const OPENING = /^<details(?:\s+open)?\s*>/i;
const TAG = /<(\/?)details(?:\s[^<>]*)?>/gi;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const SUMMARY = /^\s*<summary>([\s\S]*?)<\/summary>/i;
const LABEL = String.raw`\[\^([^\]\s]{1,40})\]`;
const REFERENCE = new RegExp(`^${LABEL}`);
// Its first line, then lines that are indented, with blank ones before them.
const NOTE = new RegExp(String.raw`^ {0,3}${LABEL}:[ \t]*([^\n]*(?:\n(?:[ \t]*\n)*(?:  |\t)[ \t]*\S[^\n]*)*)(?:\n|$)`);
let depth = 0;

export interface Folded {
  raw: string;
  summary: string;
  body: string;
  /** Its end is there. */
  closed: boolean;
}

/** The part that folds at the beginning of a text, null where there is none; without an end it goes on to the last line. Pure. */
export function foldedAt(text: string): Folded | null {
  const start = OPENING.exec(text)?.[0].length ?? 0;
  if (!start) return null;
  let fence = "";
  let open = 1;
  for (let at = start; at < text.length; ) {
    const end = text.indexOf("\n", at) < 0 ? text.length : text.indexOf("\n", at);
    const line = text.slice(at, end);
    const mark = FENCE.exec(line)?.[1] ?? "";
    if (fence) fence = mark.startsWith(fence) ? "" : fence;
    else if (mark) fence = mark;
    else
      for (const tag of line.matchAll(TAG)) {
        open += tag[1] ? -1 : 1;
        if (!open) return folded(text, start, at + tag.index, at + tag.index + tag[0].length);
      }
    at = end + 1;
  }
  return folded(text, start, text.length, text.length);
}

function folded(text: string, from: number, to: number, end: number): Folded {
  const inner = text.slice(from, to);
  const summary = SUMMARY.exec(inner);
  const blank = /^[ \t]*\n+/.exec(text.slice(end))?.[0].length ?? 0;
  return {
    raw: text.slice(0, end + blank),
    summary: summary?.[1]?.trim() ?? "",
    body: inner.slice(summary?.[0].length ?? 0).replace(/^\s*\n/, ""),
    closed: to < end,
  };
}

/** The footnote that is defined at the beginning of a text. Pure. */
export function noteAt(text: string): { raw: string; label: string; body: string } | null {
  const found = NOTE.exec(text);
  return found && { raw: found[0], label: found[1]!, body: found[2]!.replace(/^(?: {1,4}|\t)/gm, "") };
}

/** What `parse` returns, or null where blocks are too deep in each other. */
function deeper<Made>(parse: () => Made): Made | undefined {
  if (depth >= MOST_DEEP) return undefined;
  depth += 1;
  try {
    return parse();
  } finally {
    depth -= 1;
  }
}

const DETAILS: TokenizerAndRendererExtension = {
  name: "details",
  level: "block",
  tokenizer(text) {
    const lexer = this.lexer;
    return deeper(() => {
      const found = foldedAt(text);
      if (!found) return undefined;
      const { raw, closed } = found;
      return { type: "details", raw, closed, head: lexer.inlineTokens(found.summary), tokens: lexer.blockTokens(found.body, []) };
    });
  },
  renderer(token) {
    const { closed, head, tokens } = token as Tokens.Generic & { tokens: Tokens.Generic[] };
    const summary = this.parser.parseInline(head as Tokens.Generic[]);
    return `<details${closed ? "" : " open"}><summary>${summary}</summary>${this.parser.parse(tokens)}</details>`;
  },
};

const DEFINITION: TokenizerAndRendererExtension = {
  name: "note",
  level: "block",
  tokenizer(text) {
    const lexer = this.lexer;
    return deeper(() => {
      const found = noteAt(text);
      return found ? { type: "note", raw: found.raw, label: found.label, tokens: lexer.blockTokens(found.body, []) } : undefined;
    });
  },
  renderer: function ({ label, tokens }) {
    return `<section class="note"><sup>${escape(String(label))}</sup>${this.parser.parse(tokens ?? [])}</section>`;
  },
};

const MENTION: TokenizerAndRendererExtension = {
  name: "note_reference",
  level: "inline",
  tokenizer(text) {
    const found = REFERENCE.exec(text);
    return found ? { type: "note_reference", raw: found[0], label: found[1] } : undefined;
  },
  renderer: ({ label }) => `<sup class="ref">${escape(String(label))}</sup>`,
};

export const BLOCKS = [DETAILS, DEFINITION, MENTION];
