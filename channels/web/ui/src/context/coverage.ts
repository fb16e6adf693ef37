// Where each turn of a conversation is now: live in the view, folded into the summary and the log, or cleared.

import type { Fold } from "../lib/types";

export interface Stretch {
  from: number;
  to: number;
  kind: "live" | "folded" | "cleared" | "forgotten";
}

/**
 * Turns 1 to the newest, each in exactly one stretch. Pure.
 *
 * Folds are of this epoch: earlier turns that neither a fold nor the view holds were cleared. What was forgotten is
 * that, wherever it stood.
 */
export function coverage(
  folds: readonly Pick<Fold, "from_turn" | "to_turn">[],
  live: readonly number[],
  forgotten: readonly number[] = [],
): Stretch[] {
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
  return forgotten.reduce(cut, made);
}

/** Neighbours of one kind as one, with their number: twelve folds are one range. Pure. */
export function ranges(strip: readonly Stretch[]): (Stretch & { count: number })[] {
  const made: (Stretch & { count: number })[] = [];
  for (const one of strip) {
    const last = made.at(-1);
    if (last?.kind === one.kind) [last.to, last.count] = [one.to, last.count + 1];
    else made.push({ ...one, count: 1 });
  }
  return made;
}

/** Take a forgotten turn out of the stretch that it is in; neighbours that were forgotten become one stretch. */
function cut(stretches: Stretch[], turn: number): Stretch[] {
  const made: Stretch[] = [];
  for (const one of stretches) {
    const inside = turn >= one.from && turn <= one.to && one.kind !== "forgotten";
    const parts: Stretch[] = inside
      ? [{ ...one, to: turn - 1 }, { from: turn, to: turn, kind: "forgotten" }, { ...one, from: turn + 1 }]
      : [one];
    for (const part of parts.filter((part) => part.from <= part.to)) {
      const last = made.at(-1);
      if (last?.kind === "forgotten" && part.kind === "forgotten") last.to = part.to;
      else made.push({ ...part });
    }
  }
  return made;
}
