import { memoryEn } from "./memory.en";
import { memoryZh } from "./memory.zh";
import { wordsOf } from "./own";

export const { t, maybe } = wordsOf(memoryEn, memoryZh);
