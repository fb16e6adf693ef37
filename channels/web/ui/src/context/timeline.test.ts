import { expect, test } from "vitest";
import type { Fold } from "../lib/types";
import { brackets } from "./timeline";

const fold = (id: string, from_turn: number, to_turn: number): Fold => ({ id, from_turn, to_turn }) as Fold;

test("a fold stands under the calls of its turns, and nowhere if they are not shown", () => {
  const rows = [3, 3, 4, 5, 5, 5, 6].map((turn) => ({ turn }));
  const made = brackets(rows, [fold("a", 1, 2), fold("b", 1, 4), fold("c", 5, 6)]);
  expect(made.map(({ id, from, to }) => [id, from, to])).toEqual([
    ["b", 0, 2],
    ["c", 3, 6],
  ]);
});
