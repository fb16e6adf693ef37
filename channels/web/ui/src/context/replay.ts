// The plot of a replay: a line of tokens for each policy.

/** The path of a line through values from 0 to `most`, in a box of that size. Pure. */
export function path(values: readonly number[], most: number, width: number, height: number): string {
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  return values
    .map((value, at) => `${at ? "L" : "M"}${(at * step).toFixed(1)} ${(height - (height * value) / most).toFixed(1)}`)
    .join("");
}

/** Round numbers for two to four lines below `most`. Pure. */
export function ticks(most: number): number[] {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, most)));
  const step = [0.2, 0.5, 1, 2, 5].map((one) => one * power).find((one) => most / one < 5) ?? power * 5;
  const made: number[] = [];
  for (let at = step; at < most; at += step) made.push(at);
  return made;
}
