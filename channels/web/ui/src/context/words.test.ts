import { expect, test } from "vitest";
import { changedWords } from "./words";

test("changed words stand between those that stayed", () => {
  expect(changedWords("I like green tea, daily", "I like black tea, daily")).toEqual([
    { text: "I like ", state: "same" },
    { text: "green", state: "gone" },
    { text: "black", state: "come" },
    { text: " tea, daily", state: "same" },
  ]);
  expect(changedWords("我喜欢绿茶", "我喜欢红茶").filter((one) => one.state !== "same")).toEqual([
    { text: "绿", state: "gone" },
    { text: "红", state: "come" },
  ]);
});

test("nothing of either text is lost, and what stayed far from a change is shortened", () => {
  const long = "word ".repeat(500);
  const pieces = changedWords(`${long}old${long}`, `${long}new${long}`);
  expect(pieces.map((one) => one.state)).toEqual(["same", "gone", "come", "same"]);
  expect(pieces.every((one) => one.text.length < 140)).toBe(true);
  for (const [before, after] of [["", "a b"], ["a b", ""], ["a b c a", "a c b a"]] as const) {
    const found = changedWords(before, after);
    expect(found.filter((one) => one.state !== "come").map((one) => one.text).join("")).toBe(before);
    expect(found.filter((one) => one.state !== "gone").map((one) => one.text).join("")).toBe(after);
  }
});

test("very long texts are shown as a whole", () => {
  expect(changedWords("a ".repeat(15_000), "b")).toHaveLength(2);
});
