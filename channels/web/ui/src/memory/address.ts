// Where results of a search open.

import { chat } from "../lib/router.svelte";
import type { SearchHit } from "../lib/types";

/** Where a result opens: its file at its line, or its conversation at its turn; "" where it is not ours to open. */
export function whereOf(hit: SearchHit): string {
  if (hit.path) {
    if (hit.path.startsWith("spaces/")) return "";
    const path = hit.path.split("/").map(encodeURIComponent).join("/");
    return `/memory/files/${path}${hit.line ? `?line=${hit.line}` : ""}`;
  }
  return hit.conversation ? chat(hit.conversation, hit.turn ? `/m/turn-${hit.turn}` : "") : "";
}
