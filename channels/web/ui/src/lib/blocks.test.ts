import { expect, test } from "vitest";
import { foldedAt, noteAt } from "./blocks";
import { toCsv } from "./csv";

test.each([
  ["<details>\n<summary>a *b*</summary>\n\ntext\n\n</details>\nafter", "a *b*", "text\n\n", true, "after"],
  ["<details open><summary>a</summary>x</details>\n\n\nafter", "a", "x", true, "after"],
  ["<DETAILS>no summary</DETAILS>", "", "no summary", true, ""],
  ["<details><summary>a</summary>\n<details>\nb\n</details>\nc\n</details>d", "a", "<details>\nb\n</details>\nc\n", true, "d"],
  ["<details><summary>a</summary>\n```\n</details>\n```\nb</details>", "a", "```\n</details>\n```\nb", true, ""],
  ["<details>\n<summary>a</summary>\ngrows", "a", "grows", false, ""],
])("%j folds", (text, summary, body, closed, rest) => {
  const found = foldedAt(text)!;
  expect({ ...found, raw: undefined }).toEqual({ raw: undefined, summary, body, closed });
  expect(text.slice(found.raw.length)).toBe(rest);
});

test.each(["<details class=x>a</details>", "<details onclick=1>", " text <details>", "<detailsx>", "</details>"])("%j is text", (text) => {
  expect(foldedAt(text)).toBeNull();
});

test.each([
  ["[^1]: a note\nafter", "1", "a note", "after"],
  ["[^long-name]:\tone\n\n    two\n\nafter", "long-name", "one\n\ntwo", "\nafter"],
  ["[^a]: one\n[^b]: two", "a", "one", "[^b]: two"],
])("%j is a footnote", (text, label, body, rest) => {
  const found = noteAt(text)!;
  expect([found.label, found.body, text.slice(found.raw.length)]).toEqual([label, body, rest]);
});

test.each(["[^]: a", "[^a b]: c", "[a]: b", `[^${"x".repeat(41)}]: a`])("%j is none", (text) => {
  expect(noteAt(text)).toBeNull();
});

test("a text of many openings, or of blanks, is read in one go", () => {
  const began = performance.now();
  foldedAt("<details>\n".repeat(20_000));
  noteAt(`[^1]: a\n${" ".repeat(100_000)}\n`.repeat(2));
  noteAt(`[^1]: a${"\n \n".repeat(60_000)}`);
  expect(performance.now() - began).toBeLessThan(2_000);
});

test("a cell that a spreadsheet would calculate is a text", () => {
  const cells = ["=1+1", "+1", "-1", "@a", "＝1", "\t=1", "\n=1", "a=1", '"=1"', "a,b;c", ""];
  expect(toCsv([cells])).toBe(
    `"'=1+1","'+1","'-1","'@a","'＝1","'\t=1","'\n=1","a=1","""=1""","a,b;c",""\r\n`,
  );
  expect(toCsv([["a"], ["b"]])).toBe('"a"\r\n"b"\r\n');
});
