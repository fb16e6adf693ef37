// Endpoints of models as the settings hold them.

import type { Preset } from "../lib/types";

/** The part of `llm`, and an item of `llm.fallback`; keys are masked. */
export interface SavedEndpoint {
  provider: string;
  base_url: string;
  api_key: string;
  model: string;
}

const CALL_PATH = /\/+(chat\/completions\/*)?$/;

/** An address as the settings hold it: without the path of the call that people copy along. Pure. */
export const cleanAddress = (address: string): string => address.trim().replace(CALL_PATH, "");

/** The preset that an endpoint is of; one for any address where none is. Pure. */
export function presetOf(saved: SavedEndpoint, presets: readonly Preset[]): Preset | undefined {
  const address = cleanAddress(saved.base_url);
  const fits = (preset: Preset): boolean => preset.id !== "own" && [preset.base_url, preset.other_base_url].includes(address);
  const known = presets.find((preset) => preset.provider === saved.provider && fits(preset));
  return known ?? presets.find((preset) => preset.id === (saved.provider === "openai" ? "own" : "anthropic"));
}

/** The list with one item moved by so many places. Pure. */
export function moved<Item>(items: readonly Item[], from: number, by: number): Item[] {
  const next = [...items];
  next.splice(from + by, 0, ...next.splice(from, 1));
  return next;
}
