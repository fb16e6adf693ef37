import { expect, test } from "vitest";
import { layOut } from "./waterfall";

const step = (start: number, seconds: number, first = 0) => ({
  kind: "model",
  name: "m",
  state: "",
  why: "",
  start,
  seconds,
  first,
  input: 0,
  output: 0,
  cached: 0,
  attempts: 0,
});

test("bars fill the width from the first start to the last end", () => {
  const { bars, seconds } = layOut([step(100, 1), step(101, 3, 1), step(103, 1)]);
  expect(seconds).toBe(4);
  expect(bars.map((bar) => [bar.left, bar.width, bar.first, bar.after])).toEqual([
    [0, 0.25, 0, 0],
    [0.25, 0.75, 0.25, 1],
    [0.75, 0.25, 0, 3],
  ]);
});

test("no step and steps without a length have a scale, too", () => {
  expect(layOut([])).toEqual({ bars: [], seconds: 0 });
  expect(layOut([step(5, 0)]).bars[0]).toMatchObject({ left: 0, width: 0 });
});
