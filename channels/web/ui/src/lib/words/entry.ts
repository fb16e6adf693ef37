import { entryEn } from "./entry.en";
import { entryZh } from "./entry.zh";
import { wordsOf } from "./own";

export const { t, maybe } = wordsOf(entryEn, entryZh);
