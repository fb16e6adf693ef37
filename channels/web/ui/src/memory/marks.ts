// Where the words of a question are in a text that was found.

import type { SearchHit, TranscriptMessage } from "../lib/types";

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

const BEFORE = 24;

/** A text from a little before its first mark on, on one line, in pieces; with `most` characters at most. Pure. */
export function excerpt(hit: Pick<SearchHit | TranscriptMessage, "text" | "marks">, before = BEFORE, most = Infinity): Piece[] {
  const marks = hit.marks ?? [];
  const from = Math.max(0, (marks[0]?.[0] ?? 0) - before);
  const text = hit.text.slice(from, from + most);
  const moved = marks.map(([begin, end]) => [begin - from, end - from] as const).filter(([begin]) => begin < text.length);
  const rest = from + text.length < hit.text.length ? "…" : "";
  return [...(from ? [{ text: "…", mark: false }] : []), ...pieces(text.replace(/\s/gu, " ") + rest, moved)];
}
