// The parts of a request, in the order in which the model reads them.

import type { ContextFacts, ContextParts } from "../lib/types";

export const PARTS: readonly (keyof ContextParts)[] = ["system", "tools", "summary", "history", "running"];
/** The context policies that there are. */
export const POLICIES = ["balanced", "turns", "budget", "layers", "boundary", "rolling"] as const;

/** The tokens that a request may have: as configured, or what the window of the model has room for. */
export const most = (facts: ContextFacts): number => Math.min(facts.max_tokens, Math.max(1, facts.budget));

export const percent = (part: number, whole: number): string => `${Math.min(100, (100 * part) / Math.max(1, whole))}%`;
