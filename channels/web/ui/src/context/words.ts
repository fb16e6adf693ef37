// Two texts word by word: what stayed, what went and what came.

import { matched } from "../lib/merge";

export interface Change {
  text: string;
  state: "same" | "gone" | "come";
}

const AROUND = 60; // characters of what stayed, on each side of a change
const MOST_WORDS = 20_000;
const WORDS = /\p{Script=Han}|[\p{L}\p{N}_]+|\s+|./gsu;

/** Pieces in order; what stayed is shortened to what stands beside a change. Pure. */
export function changedWords(before: string, after: string): Change[] {
  const [was, is] = [before.match(WORDS) ?? [], after.match(WORDS) ?? []];
  if (was.length + is.length > MOST_WORDS) return [{ text: before, state: "gone" }, { text: after, state: "come" }];
  const made: Change[] = [];
  const add = (text: string, state: Change["state"]): void => {
    const last = made.at(-1);
    if (!text) return;
    if (last?.state === state) last.text += text;
    else made.push({ text, state });
  };
  let next = 0;
  matched(was, is).forEach((at, from) => {
    if (at < 0) return add(was[from]!, "gone");
    add(is.slice(next, at).join(""), "come");
    add(is[at]!, "same");
    next = at + 1;
  });
  add(is.slice(next).join(""), "come");
  return made.map((one, at) => (one.state === "same" ? { ...one, text: shortened(one.text, at > 0, at < made.length - 1) } : one));
}

/** The ends of a text that stand beside a change. */
function shortened(text: string, afterOne: boolean, beforeOne: boolean): string {
  const signs = [...text];
  const head = afterOne ? AROUND : 0;
  const tail = beforeOne ? AROUND : 0;
  if (signs.length <= head + tail + 1) return text;
  return `${signs.slice(0, head).join("")} … ${tail ? signs.slice(-tail).join("") : ""}`;
}
