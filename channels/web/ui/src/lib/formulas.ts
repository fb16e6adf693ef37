// Where a text has formulas: $$…$$, \\[…\\], \\(…\\), and $…$ where it cannot be money.

import type { TokenizerAndRendererExtension } from "marked";

const BLOCK = /^(?:\$\$([^$]+?)\$\$|\\\[([\s\S]+?)\\\])(?:\n|$)/;
const INLINE = /^(?:\$\$([^$\n]+?)\$\$|\\\(([^\n]+?)\\\)|\$(?!\s)((?:\\.|[^$\n\\])+?)(?<!\s)\$(?![\d\w]))/;

export const escape = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** The formula at the beginning of a text, "" where there is none. Pure. */
export function formulaAt(text: string, block: boolean): { raw: string; formula: string } | null {
  const found = (block ? BLOCK : INLINE).exec(text);
  const formula = found?.slice(1).find((one) => one !== undefined)?.trim();
  return found && formula ? { raw: found[0], formula } : null;
}

function extension(level: "block" | "inline"): TokenizerAndRendererExtension {
  return {
    name: `formula_${level}`,
    level,
    start(text: string) {
      const at = text.search(level === "block" ? /\$\$|\\\[/ : /\$|\\\(/);
      return at < 0 ? undefined : at;
    },
    tokenizer(text: string) {
      const found = formulaAt(text, level === "block");
      return found ? { type: `formula_${level}`, raw: found.raw, text: found.formula } : undefined;
    },
    renderer: ({ text }) => `<code class="formula ${level}">${escape(String(text))}</code>`,
  };
}

export const FORMULAS = [extension("block"), extension("inline")];
