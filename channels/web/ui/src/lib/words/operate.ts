import { operateEn } from "./operate.en";
import { operateZh } from "./operate.zh";
import { wordsOf } from "./own";

export type OperateKey = keyof typeof operateEn;
export const { t, maybe } = wordsOf(operateEn, operateZh);
