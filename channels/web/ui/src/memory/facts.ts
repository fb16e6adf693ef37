// What the pages of facts share.

import { send } from "../lib/api";
import type { Fact } from "../lib/types";

export const CATEGORIES = ["user_preference", "instruction", "project_context", "skill", "fact"] as const;

const over = (etag: string): Record<string, string> => ({ "if-match": `"${etag}"` });

/** Change a fact that was read with this ETag. */
export const correct = async (fact: Pick<Fact, "id" | "etag">, change: Partial<Fact>): Promise<Fact> =>
  (await send<Fact>("PATCH", `/memory/facts/${fact.id}`, change, over(fact.etag))).body;

/** Put a former fact back. */
export const restore = async (fact: Pick<Fact, "id" | "etag">): Promise<Fact> =>
  (await send<Fact>("POST", `/memory/facts/${fact.id}/restore`, {}, over(fact.etag))).body;
