import { contextEn } from "./context.en";
import { contextZh } from "./context.zh";
import { wordsOf } from "./own";

export const { t, maybe } = wordsOf(contextEn, contextZh);
