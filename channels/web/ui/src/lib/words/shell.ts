import { shellEn } from "./shell.en";
import { shellZh } from "./shell.zh";
import { wordsOf } from "./own";

export const { t, maybe } = wordsOf(shellEn, shellZh);
