// What a palette offers for some words.

import type { Piece } from "../memory/marks";
import type { IconName } from "./Icon.svelte";

export type Kind = "page" | "conversation" | "person" | "file" | "setting" | "command" | "message";

export interface Choice {
  kind: Kind;
  icon: IconName;
  text: string;
  more: string;
  /** The text with marks. */
  pieces?: Piece[];
  /** The server has found it for these words already. */
  found?: boolean;
  run: () => void;
}

const MOST = 60;

/** How well a choice fits the words; 0: not at all. Pure. */
export function score(choice: Pick<Choice, "text" | "more" | "found">, words: string): number {
  const wanted = words.trim().toLowerCase();
  if (!wanted) return 1;
  const text = choice.text.toLowerCase();
  if (text === wanted) return 6;
  if (text.startsWith(wanted) || text.startsWith(`/${wanted}`)) return 5;
  if (text.includes(` ${wanted}`) || text.includes(`/${wanted}`)) return 4;
  if (text.includes(wanted)) return 3;
  if (choice.more.toLowerCase().includes(wanted)) return 2;
  return choice.found ? 1 : 0;
}

/** The best ones for these words, each kind in the order in which it was given. Pure. */
export function best(choices: readonly Choice[], words: string): Choice[] {
  return choices
    .map((choice, at) => ({ choice, at, fits: score(choice, words) }))
    .filter(({ fits }) => fits > 0)
    .sort((one, other) => other.fits - one.fits || one.at - other.at)
    .slice(0, MOST)
    .map(({ choice }) => choice);
}
