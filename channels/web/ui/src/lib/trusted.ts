// The page's one Trusted Types policy beside Svelte's. DOMPurify is given it in place of the one that it would make, which
// lets any script pass: this one lets the app's worker pass and no other.

import type { Config } from "dompurify";

type Policy = NonNullable<Config["TRUSTED_TYPES_POLICY"]>;
interface Factory {
  createPolicy(name: string, rules: Record<string, (text: string) => string>): Policy;
}

const WORKER = "/static/sw.js";

function onlyWorker(address: string): string {
  if (address !== WORKER) throw new TypeError("no script is loaded by its address here");
  return address;
}

// Only what DOMPurify has cleaned is given to createHTML.
const rules = { createHTML: (text: string) => text, createScriptURL: onlyWorker };
const policy = (globalThis as { trustedTypes?: Factory }).trustedTypes?.createPolicy("dompurify", rules);

/** What DOMPurify is to be told of it; nothing where the browser has no Trusted Types. */
export const TRUSTED: Config = policy ? { TRUSTED_TYPES_POLICY: policy } : {};

/** The address of the app's worker, as one that may be registered. */
export const workerAddress = (): string => (policy?.createScriptURL(WORKER) ?? WORKER) as string;
