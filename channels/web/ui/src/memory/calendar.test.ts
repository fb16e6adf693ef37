import { expect, test } from "vitest";
import { monthAfter, shade, weeks } from "./calendar";

test("weeks begin on Monday and hold each day once", () => {
  const made = weeks("2026-11");
  expect(made[0]).toEqual([null, null, null, null, null, null, "2026-11-01"]);
  expect(made.flat().filter(Boolean)).toHaveLength(30);
  expect(made.every((week) => week.length === 7)).toBe(true);
  expect(weeks("2024-02").flat().filter(Boolean)).toHaveLength(29);
});

test("months go over the end of a year", () => {
  expect(monthAfter("2026-12", 1)).toBe("2027-01");
  expect(monthAfter("2026-01", -1)).toBe("2025-12");
});

test("a day with one turn is never as pale as one with none", () => {
  expect([0, 1, 50, 51, 100].map((turns) => shade(turns, 100))).toEqual([0, 1, 2, 3, 4]);
  expect(shade(0, 0)).toBe(0);
});
