import { expect, test } from "vitest";
import { fieldOf, nested, parsed, typed, valueAt } from "./settings";

test("what is written at a key is read there", () => {
  const tree = nested(new Map<string, unknown>([["llm.model", "m"], ["llm.proxy", ""], ["language", "zh"]]));
  expect(tree).toEqual({ llm: { model: "m", proxy: "" }, language: "zh" });
  expect(valueAt(tree, "llm.model")).toBe("m");
  expect(valueAt(tree, "llm.none.deeper")).toBeUndefined();
});

test("a value that is typed as shown is the same value", () => {
  for (const [value, field] of [[["a", "b"], "list"], [{ a: [1] }, "json"], [2.5, "number"], ["x", "text"]] as const)
    expect(parsed(typed(value, field), field)).toEqual(value);
  expect(parsed("\n a \n\n", "list")).toEqual(["a"]);
});

test("what is no value is refused", () => {
  for (const text of ["", " ", "x", "1e"]) expect(() => parsed(text, "number")).toThrow(RangeError);
  expect(() => parsed("{", "json")).toThrow(SyntaxError);
});

test("each key has a field", () => {
  const key = { key: "", group: "", takes_effect: "now" as const, title_zh: "", title_en: "", about_zh: "", about_en: "" };
  const forms = ["flag", "choice", "integer", "texts", "quiet_hours", "policies", "plugins", "secret"];
  expect(forms.map((form) => fieldOf({ ...key, form }))).toEqual(["switch", "choice", "number", "list", "list", "json", "json", "text"]);
});
