import { expect, test } from "vitest";
import { path, ticks } from "./replay";

test("a line goes from edge to edge and its highest point touches the top", () => {
  expect(path([0, 50, 100], 100, 200, 80)).toBe("M0.0 80.0L100.0 40.0L200.0 0.0");
  expect(path([100], 100, 200, 80)).toBe("M0.0 0.0");
});

test("the lines behind it are few and round", () => {
  expect(ticks(48_000)).toEqual([10_000, 20_000, 30_000, 40_000]);
  expect(ticks(9_000)).toEqual([2_000, 4_000, 6_000, 8_000]);
  for (const most of [1, 7, 99, 101, 12_345, 1e6]) expect(ticks(most).length).toBeLessThan(5);
});
