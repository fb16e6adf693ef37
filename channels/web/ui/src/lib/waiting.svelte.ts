// What waits for the owner, looked at every half minute and whenever the list of conversations moves.

import type { Waiting } from "./types";
import { get } from "./api";

const EVERY_MS = 30_000;
const LEAST_MS = 3_000;

export const waiting = $state<Waiting>({ pairing: 0, approvals: 0, logins: 0, checks: 0, key_missing: false });
let due = 0;
let looked = 0;

let looking: Promise<void> | null = null;

/** Look now; resolved once what is known is new. */
export const look = (): Promise<void> => (looking ??= ask().finally(() => (looking = null)));

async function ask(): Promise<void> {
  clearTimeout(due);
  due = window.setTimeout(() => void look(), EVERY_MS);
  if (document.hidden && looked) return;
  looked = performance.now();
  const found = await get<Waiting>("/waiting").catch(() => null); // it is asked for again
  if (found) Object.assign(waiting, found);
}

/** Something may have changed: look soon, but not at each of many changes. */
export function lookSoon(): void {
  clearTimeout(due);
  due = window.setTimeout(() => void look(), Math.max(0, LEAST_MS - (performance.now() - looked)));
}

export const rest = (): void => clearTimeout(due);
