import { wizardEn } from "./wizard.en";
import { wizardZh } from "./wizard.zh";
import { wordsOf } from "./own";

export const { t, maybe } = wordsOf(wizardEn, wizardZh);
