// Completion of commands, and of the words that a command names as its choices: /context [clear|fold|undo|diff].

import type { Command } from "../lib/types";

export interface Completion {
  /** What it completes to. */
  text: string;
  /** What may follow it. */
  usage: string;
  zh: string;
  en: string;
}

const MOST_WORDS = 40;
const CHOICES = /\[([a-z0-9_-]+(?:\|[a-z0-9_-]+)*)\]/u;

/** What a text that begins with a slash may become. */
export function complete(text: string, commands: readonly Command[]): Completion[] {
  const typed = /^\/(\S*)$/.exec(text);
  if (typed) return commands.filter((one) => one.name.startsWith(typed[1] ?? "")).map(ofCommand);
  const words = /^\/(\S+) +(\S*)$/.exec(text);
  const command = words ? commands.find((one) => one.name === words[1]) : undefined;
  if (!words || !command) return [];
  const choices = CHOICES.exec(command.usage)?.[1]?.split("|") ?? [];
  const begun = choices.filter((choice) => choice.startsWith(words[2] ?? "")).slice(0, MOST_WORDS);
  if (!words[2] || begun.includes(words[2])) return []; // a bare command may be sent as it stands
  return begun.map((choice) => ({ text: `/${command.name} ${choice}`, usage: "", zh: command.zh, en: command.en }));
}

const ofCommand = ({ name, usage, zh, en }: Command): Completion => ({ text: `/${name}`, usage, zh, en });

/** Whether it makes no sense without words that follow. */
export const takesWords = (one: Completion): boolean => Boolean(one.usage) && !one.usage.startsWith("[");
