// Putting a model into use.

import { get, post } from "../lib/api";
import type { ModelState, Status } from "../lib/types";
import { look } from "../lib/waiting.svelte";
import { offerCards } from "./first";
import type { ModelChoice, SavedEndpoint } from "./endpoints";

const EVERY_MS = 250;
const MOST_ROUNDS = 40;

type Use = ModelChoice | (Omit<ModelChoice, "api_key"> & { fallback: SavedEndpoint[] });

/** Save the model in use or its chain, and wait until the bot has taken it up, which is a moment later. */
export async function putIntoUse(use: Use): Promise<void> {
  await post("/models/use", use);
  const later = "fallback" in use ? use.fallback.length : undefined;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const { provider, model, models } = await get<Status>("/status");
    const behind = models.filter((one: ModelState) => one.use === "spare").length;
    if (provider !== "offline" && model === use.model && (later ?? behind) === behind) break;
    await new Promise((done) => setTimeout(done, EVERY_MS));
  }
  offerCards();
  await look();
}
