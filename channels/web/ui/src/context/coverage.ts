// Where each turn of a conversation is now: live in the view, folded into the summary and the log, or cleared.

import type { Fold } from "../lib/types";

export interface Stretch {
  from: number;
  to: number;
  kind: "live" | "folded" | "cleared";
}

/**
 * Turns 1 to the newest, each in exactly one stretch. Pure.
 *
 * Folds are of this epoch: earlier turns that neither a fold nor the view holds were cleared.
 */
export function coverage(folds: readonly Pick<Fold, "from_turn" | "to_turn">[], live: readonly number[]): Stretch[] {
  const known: Stretch[] = folds.map((fold) => ({ from: fold.from_turn, to: fold.to_turn, kind: "folded" as const }));
  if (live[0] !== undefined && live[1] !== undefined) known.push({ from: live[0], to: live[1], kind: "live" });
  known.sort((one, other) => one.from - other.from);
  const made: Stretch[] = [];
  let next = 1;
  for (const one of known) {
    if (one.from > next) made.push({ from: next, to: one.from - 1, kind: "cleared" });
    const from = Math.max(one.from, next);
    if (from <= one.to) made.push({ ...one, from });
    next = Math.max(next, one.to + 1);
  }
  return made;
}
