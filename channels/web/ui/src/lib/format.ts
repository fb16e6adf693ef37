// Numbers, dates and sizes as people of the chosen language write them.

import { language, t } from "./locale.svelte";

// One of each kind: to make one takes milliseconds on a phone, and a chat has hundreds of dates.
const made = new Map<string, unknown>();
function once<Format>(key: string, make: () => Format): Format {
  if (!made.has(key)) made.set(key, make());
  return made.get(key) as Format;
}

export const number = (value: number): string =>
  once(`number ${language()}`, () => new Intl.NumberFormat(language())).format(Math.round(value || 0));

const locale = (): string => (navigator.language.toLowerCase().startsWith(language()) ? navigator.language : language());

/** A moment in this shape. */
export const date = (moment: Date | number, shape: Intl.DateTimeFormatOptions): string =>
  once(`${locale()} ${JSON.stringify(shape)}`, () => new Intl.DateTimeFormat(locale(), shape)).format(moment);

/** The time today, else the date. */
export function when(text: string): string {
  const moment = new Date(text);
  const today = moment.toDateString() === new Date().toDateString();
  const shape: Intl.DateTimeFormatOptions = today
    ? { hour: "2-digit", minute: "2-digit" }
    : { month: "short", day: "numeric" };
  return date(moment, shape);
}

/** Date and time. */
export function moment(text: string): string {
  return date(new Date(text), { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
}

export const full = (text: string): string =>
  date(new Date(text), { dateStyle: "full", timeStyle: "medium" });

/** The heading of a day in a list: today, yesterday, else the date. */
export function day(text: string): string {
  const then = new Date(text);
  const midnight = (date: Date): number => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  const days = Math.round((midnight(new Date()) - midnight(then)) / 86_400_000);
  if (days >= 0 && days < 2) {
    const words = new Intl.RelativeTimeFormat(language(), { numeric: "auto" }).format(-days, "day");
    return words.charAt(0).toLocaleUpperCase() + words.slice(1);
  }
  const shape: Intl.DateTimeFormatOptions = { month: "long", day: "numeric" };
  if (then.getFullYear() !== new Date().getFullYear()) shape.year = "numeric";
  return date(then, shape);
}

/** A calendar day such as 2026-11-20, whatever the zone. */
export const onDay = (day: string, shape: Intl.DateTimeFormatOptions): string =>
  date(new Date(`${day}T00:00:00Z`), { ...shape, timeZone: "UTC" });

const UNITS: [number, Intl.RelativeTimeFormatUnit][] = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
];

/** How long ago a moment was. */
export function ago(text: string): string {
  const seconds = Math.max(0, (Date.now() - new Date(text).getTime()) / 1000);
  const [size, unit] = UNITS.find(([least]) => seconds >= least) ?? [1, "second"];
  return new Intl.RelativeTimeFormat(language(), { numeric: "always" }).format(-Math.floor(seconds / size), unit);
}

/** How long until a moment: 59:07. */
export function left(text: string, now: number): string {
  const seconds = Math.max(0, Math.round((new Date(text).getTime() - now) / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** What was saved, in percent: −96 %. */
export function saved(before: number, after: number): string {
  const percent = before > 0 ? Math.round(100 * (1 - after / before)) : 0;
  return `${percent >= 0 ? "−" : "+"}${Math.abs(percent)}${language() === "zh" ? "%" : " %"}`;
}

export function share(part: number, whole: number): string {
  const hundredths = (100 * part) / Math.max(1, whole);
  return hundredths > 0 && hundredths < 0.5 ? "<1%" : `${Math.round(hundredths)}%`;
}

export const turns = (from: number, to: number): string => t(from === to ? "turn_one" : "turn_many", { from, to });

export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** US dollars; small amounts keep two digits that say something. */
export function price(cost: number | null): string {
  if (cost === null) return t("price_unknown");
  return `US$ ${cost >= 0.1 || !cost ? cost.toFixed(2) : cost.toPrecision(2)}`;
}

/** What was left out of a part, as the server names it: "## Tea: 3 paragraphs". */
export function leftOut(item: string): string {
  if (language() !== "zh") return item;
  return item
    .replace(/:? *(\d+) paragraphs?$/, "：$1 段")
    .replace(/(\d+) lines?$/, "$1 行")
    .replace(/(\d+) headings?$/, "$1 个标题");
}

// Signs that turn the direction of a text, or show nothing.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/** A name or label from outside, with signs shown that would hide or reorder words. */
export const visible = (text: string): string =>
  text.replace(HIDDEN, (sign) => `⟨U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`);
