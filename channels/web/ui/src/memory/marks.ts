// Where the words of a question are in a text that was found.

import { chat } from "../lib/router.svelte";
import type { SearchHit } from "../lib/types";

export interface Piece {
  text: string;
  mark: boolean;
}

const MOST_WORDS = 20;
const MOST_CHARACTERS = 20_000;

/** The text in pieces, those that are words of the question marked. Pure. */
export function marked(text: string, question: string): Piece[] {
  const words = question.split(/[\s,.;:!?，。；：！？、"'“”‘’()（）]+/u).filter((word) => word.length > 1 || /\P{ASCII}/u.test(word));
  if (!words.length || text.length > MOST_CHARACTERS) return [{ text, mark: false }];
  const escaped = words.slice(0, MOST_WORDS).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const parts = text.split(new RegExp(`(${escaped.join("|")})`, "giu"));
  return parts.map((part, at) => ({ text: part, mark: at % 2 === 1 })).filter((piece) => piece.text);
}

/** The text in pieces by the places that the server marked. Pure. */
export function pieces(text: string, marks: readonly (readonly [number, number])[]): Piece[] {
  const made: Piece[] = [];
  let at = 0;
  for (const [begin, end] of marks) {
    made.push({ text: text.slice(at, begin), mark: false }, { text: text.slice(begin, end), mark: true });
    at = end;
  }
  return [...made, { text: text.slice(at), mark: false }].filter((piece) => piece.text);
}

/** Where a result opens: its file at its line, or its conversation at its turn; "" where it is not ours to open. */
export function whereOf(hit: SearchHit): string {
  if (hit.path) {
    if (hit.path.startsWith("spaces/")) return "";
    const path = hit.path.split("/").map(encodeURIComponent).join("/");
    return `/memory/files/${path}${hit.line ? `?line=${hit.line}` : ""}`;
  }
  return hit.conversation ? chat(hit.conversation, hit.turn ? `/m/turn-${hit.turn}` : "") : "";
}
