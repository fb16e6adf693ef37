// Words of the pages to run a bot, loaded with the first of them; all other words are those of every page.

import { fill, language, maybe as maybeOfAll, t as tOfAll, type Key, type Values } from "../locale.svelte";
import { operateEn } from "./operate.en";
import { operateZh } from "./operate.zh";

export type OperateKey = keyof typeof operateEn;

const own = (key: string): string | undefined =>
  Object.hasOwn(operateEn, key) ? (language() === "zh" ? operateZh : operateEn)[key as OperateKey] : undefined;

/** The words for a key, with {name} filled in. */
export function t(key: Key | OperateKey, values: Values = {}): string {
  const words = own(key);
  return words === undefined ? tOfAll(key as Key, values) : fill(words, values);
}

/** The words for a key that is built at run time; `otherwise` where there is none. */
export const maybe = (key: string, otherwise: string): string => own(key) ?? maybeOfAll(key, otherwise);
