// Lines that come and go, some with an act that takes back what they tell of.

import { reason } from "./api";

export interface Toast {
  id: number;
  text: string;
  act?: { label: string; run: () => void };
}

export const toasts = $state<Toast[]>([]);
const SEEN_FOR = 4500;
let last = 0;

export function dismiss(id: number): void {
  const at = toasts.findIndex((one) => one.id === id);
  if (at >= 0) toasts.splice(at, 1);
}

export function toast(text: string, act?: Toast["act"], ms = SEEN_FOR): void {
  const id = ++last;
  toasts.push(act ? { id, text, act } : { id, text });
  setTimeout(() => dismiss(id), ms);
}

/** Do something, and tell what is done then, or why it could not be; true where it went well. */
export async function attempt(act: () => Promise<unknown>, done = ""): Promise<boolean> {
  try {
    await act();
    if (done) toast(done);
    return true;
  } catch (err) {
    toast(reason(err));
    return false;
  }
}
