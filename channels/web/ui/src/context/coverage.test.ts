import { expect, test } from "vitest";
import { coverage, ranges } from "./coverage";

const fold = (from_turn: number, to_turn: number) => ({ from_turn, to_turn });

test("each turn is in one stretch, and what nothing holds was cleared", () => {
  expect(coverage([fold(3, 10), fold(11, 11)], [12, 18])).toEqual([
    { from: 1, to: 2, kind: "cleared" },
    { from: 3, to: 10, kind: "folded" },
    { from: 11, to: 11, kind: "folded" },
    { from: 12, to: 18, kind: "live" },
  ]);
});

test("folds of folds do not cover a turn twice", () => {
  expect(coverage([fold(1, 4), fold(1, 8)], [])).toEqual([
    { from: 1, to: 4, kind: "folded" },
    { from: 5, to: 8, kind: "folded" },
  ]);
  expect(coverage([], [])).toEqual([]);
});

test("what was forgotten is that wherever it stood, and nothing is left over", () => {
  const strip = coverage([fold(3, 6)], [7, 9], [1, 4, 5, 9]);
  expect(strip).toEqual([
    { from: 1, to: 1, kind: "forgotten" },
    { from: 2, to: 2, kind: "cleared" },
    { from: 3, to: 3, kind: "folded" },
    { from: 4, to: 5, kind: "forgotten" },
    { from: 6, to: 6, kind: "folded" },
    { from: 7, to: 8, kind: "live" },
    { from: 9, to: 9, kind: "forgotten" },
  ]);
  expect(coverage([], [1, 2], [7])).toEqual([{ from: 1, to: 2, kind: "live" }]);
});

test("neighbours of one kind are one range", () => {
  expect(ranges(coverage([fold(1, 3), fold(4, 6), fold(7, 9)], [10, 12]))).toEqual([
    { from: 1, to: 9, kind: "folded", count: 3 },
    { from: 10, to: 12, kind: "live", count: 1 },
  ]);
});
