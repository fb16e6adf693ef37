// Values of the settings form: read from and written into the nested object that config.json is.

import type { SettingsKey } from "../lib/types";

export type Tree = Record<string, unknown>;

const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null && !Array.isArray(value);

/** The value at a dotted key; undefined where there is none. Pure. */
export function valueAt(tree: Tree, key: string): unknown {
  return key.split(".").reduce<unknown>((at, step) => (isTree(at) ? at[step] : undefined), tree);
}

/** A nested object with only these values. Pure. */
export function nested(values: ReadonlyMap<string, unknown>): Tree {
  const tree: Tree = {};
  for (const [key, value] of values) {
    const steps = key.split(".");
    let at = tree;
    for (const step of steps.slice(0, -1)) at = (at[step] ??= {}) as Tree;
    at[steps.at(-1)!] = value;
  }
  return tree;
}

export type Field = "switch" | "choice" | "number" | "list" | "json" | "text";

export function fieldOf(key: SettingsKey): Field {
  if (key.form === "flag") return "switch";
  if (key.form === "choice") return "choice";
  if (key.form === "integer" || key.form === "number") return "number";
  if (["texts", "networks", "quiet_hours"].includes(key.form)) return "list";
  if (["policies", "fallbacks", "search_providers", "mcp_servers", "plugins"].includes(key.form)) return "json";
  return "text";
}

/** How a value is typed. Pure. */
export function typed(value: unknown, field: Field): string {
  if (value === undefined || value === null) return "";
  if (field === "list" && Array.isArray(value)) return value.join("\n");
  if (field === "json") return JSON.stringify(value, null, 2);
  return String(value);
}

/**
 * What was typed as a value. Pure.
 *
 * Throws SyntaxError where it is no JSON, RangeError where it is no number.
 */
export function parsed(text: string, field: Field): unknown {
  if (field === "list") return text.split("\n").map((line) => line.trim()).filter(Boolean);
  if (field === "json") return JSON.parse(text || "null");
  if (field !== "number") return text.trim();
  const number = Number(text);
  if (!text.trim() || Number.isNaN(number)) throw new RangeError(text);
  return number;
}

export const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
