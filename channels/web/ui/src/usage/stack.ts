// What was used by day, in parts that are stacked on each other. Pure.

import type { DayUsage, DayUsageItem } from "../lib/types";

export type By = "model" | "purpose" | "who";
export type Measure = "cost" | "tokens" | "calls";

/** One part of every day. */
export interface Part {
  /** The model, the purpose, or "own" and "others"; "" for all that have no part of their own. */
  key: string;
  /** One for each day. */
  values: number[];
  sum: number;
}

/** As many parts as there are colours; what is less goes into one more. */
export const MOST_PARTS = 5;

const keyOf = (item: DayUsageItem, by: By): string => (by === "who" ? (item.own ? "own" : "others") : item[by]);

export function amount(item: DayUsageItem, measure: Measure): number {
  if (measure === "cost") return item.cost ?? 0;
  return measure === "calls" ? item.calls : item.input + item.output;
}

/** The parts, largest first, with the rest as the last one. */
export function stack(days: DayUsage[], by: By, measure: Measure): Part[] {
  const found = new Map<string, number[]>();
  days.forEach((day, at) => {
    for (const item of day.items) {
      const key = keyOf(item, by);
      const values = found.get(key) ?? new Array<number>(days.length).fill(0);
      values[at]! += amount(item, measure);
      found.set(key, values);
    }
  });
  const parts = [...found].map(([key, values]) => ({ key, values, sum: values.reduce((all, one) => all + one, 0) }));
  parts.sort((left, right) => right.sum - left.sum || left.key.localeCompare(right.key));
  if (parts.length <= MOST_PARTS) return parts;
  const rest = parts.slice(MOST_PARTS);
  const values = days.map((_, at) => rest.reduce((all, part) => all + part.values[at]!, 0));
  return [...parts.slice(0, MOST_PARTS), { key: "", values, sum: rest.reduce((all, part) => all + part.sum, 0) }];
}

/** For each part the tops of its bars: its own values on those of the parts before it. */
export function tops(parts: Part[]): number[][] {
  let below: number[] = [];
  return parts.map((part) => (below = part.values.map((value, at) => value + (below[at] ?? 0))));
}

/** What all days add up to, model by model and purpose by purpose. */
export function sums(days: DayUsage[]): DayUsageItem[] {
  const found = new Map<string, DayUsageItem>();
  for (const item of days.flatMap((day) => day.items)) {
    const key = `${item.model}\n${item.purpose}`;
    const sum = found.get(key);
    if (!sum) {
      found.set(key, { ...item });
      continue;
    }
    for (const name of ["calls", "input", "output"] as const) sum[name] += item[name];
    sum.cache_read = (sum.cache_read ?? 0) + (item.cache_read ?? 0);
    sum.cache_write = (sum.cache_write ?? 0) + (item.cache_write ?? 0);
    sum.cost = sum.cost === null || item.cost === null ? null : sum.cost + item.cost;
  }
  return [...found.values()].sort((left, right) => (right.cost ?? 0) - (left.cost ?? 0) || left.model.localeCompare(right.model));
}
