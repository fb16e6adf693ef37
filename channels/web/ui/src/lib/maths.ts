// Formulas as MathML, which needs no styles and no fonts: loaded once there is a formula.

import katex from "katex";

const LONGEST = 2_000;
const OPTIONS = { output: "mathml", throwOnError: false, strict: false, trust: false, maxExpand: 200, maxSize: 20 } as const;

/** Show a formula in place of its source; what is too long stays as it is. */
export function typeset(source: Element): void {
  const text = source.textContent ?? "";
  if (text.length > LONGEST) return;
  const box = document.createElement(source.classList.contains("block") ? "div" : "span");
  box.className = "maths";
  katex.render(text, box, { ...OPTIONS, displayMode: box.tagName === "DIV" });
  source.replaceWith(box);
}
