import { peopleEn } from "./people.en";
import { peopleZh } from "./people.zh";
import { wordsOf } from "./own";

export const { t, maybe } = wordsOf(peopleEn, peopleZh);
