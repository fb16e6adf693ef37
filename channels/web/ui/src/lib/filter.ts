// The filter of a list stands in the address, so that Back and a link find it again.
import { go, place } from "./router.svelte";

/** The values of these names in the address; "" for any. Reactive where it is called so. */
export function filterOf<Name extends string>(...names: Name[]): Record<Name, string> {
  const { query } = place();
  return Object.fromEntries(names.map((name) => [name, query.get(name) ?? ""])) as Record<Name, string>;
}

/** A filter as a query, without what is any. */
export const queryOf = (filter: Record<string, string>): string =>
  new URLSearchParams(Object.entries(filter).filter(([, value]) => value)).toString();

/** Put a changed filter into the address of its list. */
export function setFilter(path: string, filter: Record<string, string>): void {
  const query = queryOf(filter);
  go(query ? `${path}?${query}` : path, { replace: true });
}
