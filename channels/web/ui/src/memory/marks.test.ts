import { expect, test } from "vitest";
import { marked } from "./marks";

const marks = (text: string, question: string): string[] =>
  marked(text, question).filter((piece) => piece.mark).map((piece) => piece.text);

test("words of the question are marked, in any case and any script", () => {
  expect(marks("Likes Green tea. green!", "green tea?")).toEqual(["Green", "tea", "green"]);
  expect(marks("我喜欢乌龙茶", "茶")).toEqual(["茶"]);
});

test("nothing is lost, and signs of the question are only signs", () => {
  for (const question of ["(a|b)*", "\\", "[", "a b", ""])
    expect(marked("a (a|b)* [ \\ b", question).map((piece) => piece.text).join("")).toBe("a (a|b)* [ \\ b");
});
