// Where folds stand under the time line of requests.

import type { Fold, PastView } from "../lib/types";

export interface Bracket {
  id: string;
  /** Places of the first and last call of the folded turns. */
  from: number;
  to: number;
  fold: Fold;
}

/** The calls of each fold's turns, by their place in `rows`; a fold whose turns are not among them has none. Pure. */
export function brackets(rows: readonly Pick<PastView, "turn">[], folds: readonly Fold[]): Bracket[] {
  const made: Bracket[] = [];
  for (const fold of folds) {
    const inside = (row: Pick<PastView, "turn">): boolean => row.turn >= fold.from_turn && row.turn <= fold.to_turn;
    const from = rows.findIndex(inside);
    if (from >= 0) made.push({ id: fold.id, from, to: rows.findLastIndex(inside), fold });
  }
  return made;
}
