import { settingsEn } from "./settings.en";
import { settingsZh } from "./settings.zh";
import { wordsOf } from "./own";

export const { t, maybe } = wordsOf(settingsEn, settingsZh);
