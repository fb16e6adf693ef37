// Words that belong to some pages only, loaded with the first of them; all other words are those of every page.

import { fill, language, maybe as maybeOfAll, t as tOfAll, type Key, type Values } from "../locale.svelte";

/** The words for a key, with {name} filled in; and those for a key that is built at run time. */
export function wordsOf<Own extends string>(en: Record<Own, string>, zh: Record<Own, string>) {
  const own = (key: string): string | undefined =>
    Object.hasOwn(en, key) ? (language() === "zh" ? zh : en)[key as Own] : undefined;
  const t = (key: Key | Own, values: Values = {}): string => {
    const words = own(key);
    return words === undefined ? tOfAll(key as Key, values) : fill(words, values);
  };
  return { t, maybe: (key: string, otherwise: string): string => own(key) ?? maybeOfAll(key, otherwise) };
}
