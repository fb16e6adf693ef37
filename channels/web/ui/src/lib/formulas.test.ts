import { expect, test } from "vitest";
import { formulaAt } from "./formulas";

test.each([
  ["$x^2$ is", false, "x^2"],
  ["$$a+b$$ c", false, "a+b"],
  ["\\(a\\) b", false, "a"],
  ["$$\na\n$$\nrest", true, "a"],
  ["\\[a\\]", true, "a"],
  ["$5 and $6", false, ""],
  ["$5$6", false, ""],
  ["$ x$", false, ""],
  ["$x $", false, ""],
  ["$$", true, ""],
])("%j has a formula at its beginning, or none", (text, block, formula) => {
  expect(formulaAt(text, block)?.formula ?? "").toBe(formula);
});
