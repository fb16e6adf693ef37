import { mergeEn } from "./merge.en";
import { mergeZh } from "./merge.zh";
import { wordsOf } from "./own";

export const { t, maybe } = wordsOf(mergeEn, mergeZh);
