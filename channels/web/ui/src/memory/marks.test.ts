import { expect, test } from "vitest";
import { excerpt, marked, pieces } from "./marks";

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

test("places of the server are marked, also behind signs of two units", () => {
  const text = "😀 I bought a boat";
  expect(pieces(text, [[5, 11]])).toEqual([
    { text: "😀 I ", mark: false },
    { text: "bought", mark: true },
    { text: " a boat", mark: false },
  ]);
});

test("an excerpt begins a little before its first mark, on one line", () => {
  const text = `${"x ".repeat(40)}\nthe ferry leaves`;
  const shown = excerpt({ text, marks: [[85, 90]] });
  expect(shown[0]).toEqual({ text: "…", mark: false });
  expect(shown.find((piece) => piece.mark)?.text).toBe("ferry");
  expect(shown.map((piece) => piece.text).join("")).not.toContain("\n");
});

test("an excerpt with a most ends there, says so, and leaves out marks behind its end", () => {
  const text = "the ferry leaves, and the ferry comes back";
  const shown = excerpt({ text, marks: [[4, 9], [26, 31]] }, 60, 16);
  expect(shown.map((piece) => piece.text).join("")).toBe("the ferry leaves…");
  expect(shown.filter((piece) => piece.mark).map((piece) => piece.text)).toEqual(["ferry"]);
});
