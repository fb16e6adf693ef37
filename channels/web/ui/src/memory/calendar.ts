// The weeks of a month, and how deep a day is shaded.

/** Days of a month by weeks from Monday on, as 2026-11-20; null where a day is of another month. Pure. */
export function weeks(month: string): (string | null)[][] {
  const [year, number] = month.split("-").map(Number) as [number, number];
  const days = new Date(Date.UTC(year, number, 0)).getUTCDate();
  const before = (new Date(Date.UTC(year, number - 1, 1)).getUTCDay() + 6) % 7;
  const cells = [...Array<null>(before).fill(null), ...Array.from({ length: days }, (_, at) => `${month}-${String(at + 1).padStart(2, "0")}`)];
  while (cells.length % 7) cells.push(null);
  return Array.from({ length: cells.length / 7 }, (_, at) => cells.slice(7 * at, 7 * at + 7));
}

/** The month so many months later. Pure. */
export function monthAfter(month: string, count: number): string {
  const [year, number] = month.split("-").map(Number) as [number, number];
  return new Date(Date.UTC(year, number - 1 + count, 1)).toISOString().slice(0, 7);
}

/** 0 for nothing, 1 to 4 by the share of the fullest day. Pure. */
export const shade = (turns: number, most: number): number => (turns ? Math.max(1, Math.ceil((4 * turns) / Math.max(1, most))) : 0);
