import { expect, test } from "vitest";
import { fieldOf, groupOf, nested, parsed, typed, valueAt } from "./settings";

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

test("each key has a field and a group", () => {
  const key = { key: "", title_zh: "", title_en: "", about_zh: "", about_en: "", form: "secret" };
  expect(["flag", "choice", "integer", "texts", "policies", "secret"].map((form) => fieldOf({ ...key, form }))).toEqual([
    "switch", "choice", "number", "list", "json", "text",
  ]);
  expect(["language", "llm.model", "channels.web.port"].map(groupOf)).toEqual(["general", "llm", "channels.web"]);
});
