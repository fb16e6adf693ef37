import { expect, test } from "vitest";
import { MOST_PARTS, stack, sums, tops } from "./stack";
import type { DayUsage } from "../lib/types";

const item = (model: string, input: number, cost: number | null, own = true) => ({
  model,
  purpose: "turn",
  own,
  calls: 1,
  input,
  output: 1,
  cache_read: 0,
  cache_write: 0,
  cost,
});
const DAYS: DayUsage[] = [
  { day: "2026-11-19", items: [item("a", 9, 2), item("b", 99, null, false)] },
  { day: "2026-11-20", items: [item("a", 9, 1)] },
];

test("parts are largest first, and stand on each other", () => {
  const parts = stack(DAYS, "model", "tokens");
  expect(parts.map((part) => [part.key, part.sum])).toEqual([["b", 100], ["a", 20]]);
  expect(tops(parts)).toEqual([[100, 0], [110, 10]]);
});

test("an unknown price adds nothing to a sum of money", () => {
  expect(stack(DAYS, "who", "cost").map((part) => [part.key, part.values])).toEqual([["own", [2, 1]], ["others", [0, 0]]]);
  expect(sums(DAYS).map((sum) => [sum.model, sum.cost, sum.calls])).toEqual([["a", 3, 2], ["b", null, 1]]);
});

test("what has no colour of its own is one part", () => {
  const many = [{ day: "2026-11-20", items: Array.from({ length: MOST_PARTS + 3 }, (_, at) => item(`m${at}`, 10 + at, 1)) }];
  const parts = stack(many, "model", "tokens");
  expect(parts).toHaveLength(MOST_PARTS + 1);
  expect(parts.at(-1)).toMatchObject({ key: "", sum: 11 + 12 + 13 });
  expect(stack([{ day: "2026-11-20", items: many[0]!.items.slice(3) }], "model", "tokens")).toHaveLength(MOST_PARTS);
});
