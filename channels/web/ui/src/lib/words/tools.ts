import { toolsEn } from "./tools.en";
import { toolsZh } from "./tools.zh";
import { wordsOf } from "./own";

export const { t, maybe } = wordsOf(toolsEn, toolsZh);
