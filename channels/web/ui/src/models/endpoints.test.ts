import { expect, test } from "vitest";
import type { Preset } from "../lib/types";
import { cleanAddress, moved, presetOf } from "./endpoints";

const preset = (id: string, more: Partial<Preset> = {}): Preset => ({
  id,
  title: { zh: id, en: id },
  provider: "openai",
  base_url: "",
  other_base_url: "",
  needs_key: true,
  key_page: "",
  local: false,
  ...more,
});
const OPENAI = preset("openai");
const KIMI = preset("kimi", { base_url: "https://a.example/v1", other_base_url: "https://b.example/v1" });
const ANTHROPIC = preset("anthropic", { provider: "anthropic" });
const OWN = preset("own", { needs_key: false });
const ALL = [ANTHROPIC, OPENAI, KIMI, OWN];
const saved = (base_url: string, provider = "openai") => ({ provider, base_url, api_key: "", model: "m" });

test("an address loses the path of the call", () => {
  expect(cleanAddress(" http://h/v1/chat/completions ")).toBe("http://h/v1");
  expect(cleanAddress("http://h/v1/")).toBe("http://h/v1");
  expect(cleanAddress("http://h/v1")).toBe("http://h/v1");
});

test("the preset of an endpoint is found by its address", () => {
  expect(presetOf(saved(""), ALL)).toBe(OPENAI);
  expect(presetOf(saved("https://b.example/v1/"), ALL)).toBe(KIMI);
  expect(presetOf(saved("https://c.example/v1"), ALL)).toBe(OWN);
  expect(presetOf(saved("https://c.example", "anthropic"), ALL)).toBe(ANTHROPIC);
});

test("items change places", () => {
  expect(moved(["a", "b", "c"], 2, -1)).toEqual(["a", "c", "b"]);
});
