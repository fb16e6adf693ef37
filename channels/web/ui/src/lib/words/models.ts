import { modelsEn } from "./models.en";
import { modelsZh } from "./models.zh";
import { wordsOf } from "./own";

export const { t, maybe } = wordsOf(modelsEn, modelsZh);
