import { expect, test } from "vitest";
import { windowOf } from "./windowing";

test("rows in view and some beside them are shown, each at its place", () => {
  const rows = Array.from({ length: 10_000 }, () => 44);
  for (const top of [0, 1, 44 * 5_000, 44 * 10_000 - 600]) {
    const found = windowOf(rows, top, 600);
    expect(found.total).toBe(440_000);
    expect(found.to - found.from).toBeLessThanOrEqual(60);
    expect(found.tops).toEqual(rows.slice(found.from, found.to).map((_, at) => (found.from + at) * 44));
    expect(found.tops[0]! <= top && (found.tops.at(-1) ?? 0) + 44 >= top + 600).toBe(true);
  }
});

test("no rows take no room", () => {
  expect(windowOf([], 0, 600)).toEqual({ from: 0, to: 0, tops: [], total: 0 });
});
