// Language and theme: they follow the system until they are chosen here.

import type { en } from "./en";

export type Key = keyof typeof en;
export type Language = "en" | "zh";
export type Theme = "light" | "dark";
export type Values = Record<string, string | number>;
type Words = Record<Key, string>;

// Each language is a file of its own: a page loads the one that is read.
const LOAD: Record<Language, () => Promise<Words>> = {
  en: async () => (await import("./en")).en,
  zh: async () => (await import("./zh")).zh,
};
let words = $state.raw<Words | null>(null);

const LANGUAGE = "mnema.language";
const THEME = "mnema.theme";
const system: Language = (navigator.language || "en").toLowerCase().startsWith("zh") ? "zh" : "en";

function stored<Choice extends string>(name: string, choices: readonly Choice[]): Choice | "" {
  const found = localStorage.getItem(name) as Choice | null;
  return found !== null && choices.includes(found) ? found : "";
}

/** What was chosen here; "" follows the system. */
export const chosen = $state({
  language: stored<Language>(LANGUAGE, ["en", "zh"]),
  theme: stored<Theme>(THEME, ["light", "dark"]),
});

export const language = (): Language => chosen.language || system;

function keep(name: string, value: string): void {
  if (value) localStorage.setItem(name, value);
  else localStorage.removeItem(name);
}

/** Load the words of the chosen language. */
export async function loadWords(): Promise<void> {
  const wanted = language();
  const loaded = await LOAD[wanted]();
  if (wanted === language()) words = loaded;
}

export function chooseLanguage(value: Language | ""): void {
  chosen.language = value;
  keep(LANGUAGE, value);
  apply();
  void loadWords();
}

export function chooseTheme(value: Theme | ""): void {
  chosen.theme = value;
  keep(THEME, value);
  apply();
}

/** Tell the document what is chosen. */
export function apply(): void {
  document.documentElement.lang = language();
  if (chosen.theme) document.documentElement.dataset.theme = chosen.theme;
  else delete document.documentElement.dataset.theme;
}

export const fill = (words: string, values: Values): string =>
  words.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole));

/** The words for a key, with {name} filled in. */
export function t(key: Key, values: Values = {}): string {
  return fill(words?.[key] ?? key, values);
}

/** The words for a key that is built at run time; `otherwise` where there is none. */
export function maybe(key: string, otherwise: string): string {
  return words && Object.hasOwn(words, key) ? t(key as Key) : otherwise;
}

/** One of two texts that the server gives in both languages. */
export const either = (texts: { zh: string; en: string }): string => (language() === "zh" ? texts.zh : texts.en);

let flips = $state(0);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (flips += 1));

/** A colour of the theme as a canvas takes it; what draws with it draws again when the theme changes. */
export function colour(name: string): string {
  void [flips, chosen.theme];
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}
