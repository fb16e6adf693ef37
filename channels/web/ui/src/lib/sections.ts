// The pages that there are, as the rail shows them.

import type { IconName } from "./Icon.svelte";
import type { Key } from "./locale.svelte";

interface Section {
  path: string;
  name: Key & IconName;
  /** Has a place of its own in the bar of a phone. */
  phone?: boolean;
}

const NAMES = ["channels", "tasks", "tools", "usage", "health", "backup", "settings"] as const;
/** What is under "More" on a phone. */
export const BEYOND: Section[] = NAMES.map((name) => ({ path: `/${name}`, name }));
export const SECTIONS: Section[] = [
  { path: "/c", name: "chat", phone: true },
  { path: "/memory", name: "memory", phone: true },
  { path: "/people", name: "people", phone: true },
  ...BEYOND,
];
