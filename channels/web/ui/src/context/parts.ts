// The parts of a request, in the order in which the model reads them.

import type { ContextParts } from "../lib/types";

export const PARTS: readonly (keyof ContextParts)[] = ["system", "tools", "summary", "history", "running"];
/** The context policies that there are. */
export const POLICIES = ["balanced", "turns", "budget", "layers", "boundary", "rolling"] as const;

export const percent = (part: number, whole: number): string => `${Math.min(100, (100 * part) / Math.max(1, whole))}%`;
