// Putting a model into use.

import { get, post } from "../lib/api";
import type { ModelState, Status } from "../lib/types";
import { look } from "../lib/waiting.svelte";
import { offerCards } from "./first";
import type { ModelChoice, SavedEndpoint } from "./endpoints";

const EVERY_MS = 250;
const MOST_ROUNDS = 40;

/** Save the model in use, and wait until the bot has taken it up, which is a moment later. */
export async function putIntoUse(choice: ModelChoice): Promise<void> {
  await post("/models/use", choice);
  await until(({ provider, model }) => provider !== "offline" && model === choice.model);
  offerCards();
  await look();
}

/** Save the chain behind the model in use, which stays as it is, and wait as above. */
export async function putChainIntoUse(fallback: SavedEndpoint[]): Promise<void> {
  await post("/models/use", { fallback });
  await until(({ models }) => models.filter((one: ModelState) => one.use === "spare").length === fallback.length);
  await look();
}

/** Wait until the status shows it, for a while. */
async function until(isInUse: (status: Status) => boolean): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    if (isInUse(await get<Status>("/status"))) break;
    await new Promise((done) => setTimeout(done, EVERY_MS));
  }
}
