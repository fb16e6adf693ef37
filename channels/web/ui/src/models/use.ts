// Waiting until what was saved of models is in use.

import { get } from "../lib/api";
import type { ModelState, Status } from "../lib/types";
import { look } from "../lib/waiting.svelte";
import { offerCards } from "./first";

const EVERY_MS = 250;
const MOST_ROUNDS = 40;

/** Wait until the bot has taken a saved model up, which is a moment later. */
export async function waitForModel(name: string): Promise<void> {
  await until(({ provider, model }) => provider !== "offline" && model === name.trim());
  offerCards();
  await look();
}

/** Wait until the bot has taken up a saved chain of so many models. */
export async function waitForChain(length: number): Promise<void> {
  await until(({ models }) => models.filter((one: ModelState) => one.use === "spare").length === length);
  await look();
}

/** Wait until the status shows it, for a while. */
async function until(isInUse: (status: Status) => boolean): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    if (isInUse(await get<Status>("/status"))) break;
    await new Promise((done) => setTimeout(done, EVERY_MS));
  }
}
