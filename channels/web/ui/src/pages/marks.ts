// Where the words of a question are in a text that was found.

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
