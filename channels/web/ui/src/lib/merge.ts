// Two changes of one text, merged line by line.

/** A stretch of a text as it was, as it is stored now, and as it is here. */
export interface Piece {
  base: string;
  stored: string;
  mine: string;
}

const linesOf = (text: string): string[] => text.split(/(?<=\n)/);

/** Pairs of a longest row in which the second numbers rise. */
function rising(pairs: readonly [number, number][]): [number, number][] {
  const ends: number[] = [];
  const before: number[] = [];
  pairs.forEach(([, to], at) => {
    let low = 0;
    for (let high = ends.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (pairs[ends[middle]!]![1] < to) low = middle + 1;
      else high = middle;
    }
    before[at] = low ? ends[low - 1]! : -1;
    ends[low] = at;
  });
  const row: [number, number][] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at]!) row.unshift(pairs[at]!);
  return row;
}

/** Where each line of a stretch stands in it, -1 for one that it has more than once. */
function once(lines: readonly string[], start: number, end: number): Map<string, number> {
  const found = new Map<string, number>();
  for (let at = start; at < end; at++) found.set(lines[at]!, found.has(lines[at]!) ? -1 : at);
  return found;
}

/** Where each line of one text stands in the other, or -1: equal ends first, then lines that both have once (patience diff). */
export function matched(from: readonly string[], to: readonly string[]): number[] {
  const found = from.map(() => -1);
  const walk = (a: number, aEnd: number, b: number, bEnd: number): void => {
    while (a < aEnd && b < bEnd && from[a] === to[b]) found[a++] = b++;
    while (a < aEnd && b < bEnd && from[aEnd - 1] === to[bEnd - 1]) found[--aEnd] = --bEnd;
    const there = once(to, b, bEnd);
    const both = [...once(from, a, aEnd)].map(([line, at]): [number, number] => [at, there.get(line) ?? -1]);
    const anchors = rising(both.filter(([at, other]) => at >= 0 && other >= 0));
    for (const [at, other] of anchors) {
      walk(a, at, b, other);
      found[at] = other;
      [a, b] = [at + 1, other + 1];
    }
    if (anchors.length) walk(a, aEnd, b, bEnd);
  };
  walk(0, from.length, 0, to.length);
  return found;
}

/** The three texts in stretches: lines that all of them have, and what stands between those. Pure. */
export function piecesOf(base: string, stored: string, mine: string): Piece[] {
  const [was, is, here] = [linesOf(base), linesOf(stored), linesOf(mine)];
  const [inStored, inMine] = [matched(was, is), matched(was, here)];
  const pieces: Piece[] = [];
  let [a, b, c] = [0, 0, 0];
  const cut = (aEnd: number, bEnd: number, cEnd: number): void => {
    const piece = { base: was.slice(a, aEnd).join(""), stored: is.slice(b, bEnd).join(""), mine: here.slice(c, cEnd).join("") };
    if (piece.base || piece.stored || piece.mine) pieces.push(piece);
    [a, b, c] = [aEnd, bEnd, cEnd];
  };
  was.forEach((_, at) => {
    const [stored, mine] = [inStored[at]!, inMine[at]!];
    if (stored < 0 || mine < 0) return;
    cut(at, stored, mine);
    cut(at + 1, stored + 1, mine + 1);
  });
  cut(was.length, is.length, here.length);
  return pieces;
}

/** Whether both changes are of this stretch, and differ. */
export const isConflict = ({ base, stored, mine }: Piece): boolean => mine !== base && stored !== base && mine !== stored;

/** The text with both changes; where they meet, it is as it is here. Pure. */
export const merged = (pieces: readonly Piece[]): string =>
  pieces.map(({ base, stored, mine }) => (mine === base ? stored : mine)).join("");
