// Where the bars of a waterfall are. Pure.

import type { WaterfallStep } from "../lib/types";

export interface Bar {
  step: WaterfallStep;
  /** Its place in the list. */
  at: number;
  /** Shares of the whole width: where it begins, how long it is, and where the first words came. */
  left: number;
  width: number;
  first: number;
  /** Seconds since the first step. */
  after: number;
}

export interface Waterfall {
  bars: Bar[];
  seconds: number;
}

/** The bars in the order of the steps; the scale reaches from the first start to the last end. */
export function layOut(steps: WaterfallStep[]): Waterfall {
  let begin = Infinity;
  let end = -Infinity;
  for (const step of steps) {
    begin = Math.min(begin, step.start);
    end = Math.max(end, step.start + step.seconds);
  }
  const seconds = Math.max(0, end - begin) || 0;
  const scale = seconds || 1;
  const bars = steps.map((step, at) => ({
    step,
    at,
    left: (step.start - begin) / scale,
    width: step.seconds / scale,
    first: step.first ? step.first / scale : 0,
    after: step.start - begin,
  }));
  return { bars, seconds };
}
