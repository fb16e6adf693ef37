import { expect, test } from "vitest";
import { best, score, type Choice } from "./palette";

const choice = (text: string, more = ""): Choice => ({ kind: "page", icon: "chat", text, more, run: () => {} });

test("a beginning goes before a word inside, and that before what only says more", () => {
  const given = [choice("green tea"), choice("steak"), choice("x", "tea time"), choice("Tea"), choice("teapot")];
  expect(best(given, "tea").map((one) => one.text)).toEqual(["Tea", "teapot", "green tea", "steak", "x"]);
  expect(best(given, "coffee")).toEqual([]);
  expect(best(given, " ").length).toBe(5);
});

test("what the server found stays, and no more than sixty are offered", () => {
  expect(score({ text: "abc", more: "", found: true }, "zzz")).toBe(1);
  expect(best(Array.from({ length: 61 }, () => choice("a")), "a").length).toBe(60);
});
