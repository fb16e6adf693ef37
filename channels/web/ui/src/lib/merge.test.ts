import { expect, test } from "vitest";
import { isConflict, merged, piecesOf } from "./merge";

const text = (...lines: string[]): string => lines.map((line) => `${line}\n`).join("");

test("changes in different places are both in the merged text", () => {
  const base = text("a", "b", "c", "d", "e");
  const pieces = piecesOf(base, text("a", "B", "c", "d", "e", "f"), text("0", "a", "b", "c", "e"));
  expect(pieces.filter(isConflict)).toEqual([]);
  expect(merged(pieces)).toBe(text("0", "a", "B", "c", "e", "f"));
});

test("where both changed the same lines, each side is told and mine stands", () => {
  const pieces = piecesOf(text("a", "b", "c", "d"), text("a", "their b", "c", "D"), text("a", "my b", "and more", "c", "d"));
  expect(pieces.filter(isConflict)).toEqual([{ base: text("b"), stored: text("their b"), mine: text("my b", "and more") }]);
  expect(merged(pieces)).toBe(text("a", "my b", "and more", "c", "D"));
});

test("the same change on both sides is no conflict", () => {
  const pieces = piecesOf(text("a", "b"), text("a", "x"), text("a", "x"));
  expect(pieces.filter(isConflict)).toEqual([]);
  expect(merged(pieces)).toBe(text("a", "x"));
});

test("texts that share no line, are empty, or end without a line break are one stretch", () => {
  expect(piecesOf("a", "b", "c")).toEqual([{ base: "a", stored: "b", mine: "c" }]);
  expect(piecesOf("a\nb", "", "a\nb\nc")).toEqual([{ base: "a\nb", stored: "", mine: "a\nb\nc" }]);
  expect(piecesOf("", "", "")).toEqual([]);
  expect(merged(piecesOf("a\nb", "a\nb\nc", "A\nb"))).toBe("A\nb");
});

test("each side can be read from the pieces, whatever was moved or repeated", () => {
  let state = 7;
  const random = (most: number): number => (state = (state * 48_271) % 2_147_483_647) % most;
  const some = (): string => Array.from({ length: random(12) }, () => `${random(5)}${random(4) ? "\n" : ""}`).join("");
  for (let round = 0; round < 500; round++) {
    const sides = { base: some(), stored: some(), mine: some() };
    const pieces = piecesOf(sides.base, sides.stored, sides.mine);
    for (const side of ["base", "stored", "mine"] as const) expect(pieces.map((piece) => piece[side]).join("")).toBe(sides[side]);
    expect(merged(piecesOf(sides.base, sides.base, sides.mine))).toBe(sides.mine);
    expect(merged(piecesOf(sides.base, sides.stored, sides.base))).toBe(sides.stored);
  }
});

test("a thousand lines of which each is there often are merged at once", () => {
  const base = Array.from({ length: 1000 }, (_, at) => `- ${at % 3}\n`);
  const pieces = piecesOf(base.join(""), ["first\n", ...base].join(""), [...base, "last\n"].join(""));
  expect(merged(pieces)).toBe(["first\n", ...base, "last\n"].join(""));
});
