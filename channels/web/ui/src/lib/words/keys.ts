import { keysEn } from "./keys.en";
import { keysZh } from "./keys.zh";
import { wordsOf } from "./own";

export const { t, maybe } = wordsOf(keysEn, keysZh);
