// Reading something again and again for as long as it is looked at.

import { untrack } from "svelte";

/** Call `read` at once and then every `pause` ms, never twice at a time; returns how to end it. */
export function repeat(read: () => Promise<void>, pause: number): () => void {
  let due = 0;
  let ended = false;
  const round = async (): Promise<void> => {
    if (!document.hidden) await read();
    if (!ended) due = window.setTimeout(() => void round(), pause);
  };
  untrack(() => void round()); // what is read may change what an effect has seen: it would begin again at once
  return () => {
    ended = true;
    clearTimeout(due);
  };
}
