import { channelsEn } from "./channels.en";
import { channelsZh } from "./channels.zh";
import { wordsOf } from "./own";

export const { t, maybe } = wordsOf(channelsEn, channelsZh);
