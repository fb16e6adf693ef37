// The address of the page: read into a route, changed by links, Back and Forward.

export interface Place {
  path: string;
  /** The parts of the path, decoded. */
  parts: string[];
  query: URLSearchParams;
}

const NAME = /^[A-Za-z0-9._:-]{1,128}$/;
/** Asked before the page leaves a place for a path; false stays there. */
type Guard = (path: string) => boolean;

function parse(): Place {
  const parts = location.pathname.split("/").filter(Boolean).map(decode);
  return { path: location.pathname, parts, query: new URLSearchParams(location.search) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

let current = $state.raw<Place>(parse());
const guards = new Set<Guard>();
/** How many pages of ours lie before this one in the history: Back leads to one of them. */
let depth = Number(history.state?.depth ?? 0);
/** Back was stopped by the guard, and the history is being put right. */
let restoring = 0;

export const place = (): Place => current;

/** Ask this before the place is left; returns how to take it back. */
export function guardLeaving(ask: Guard): () => void {
  guards.add(ask);
  return () => void guards.delete(ask);
}

const mayLeave = (path: string): boolean => [...guards].every((ask) => ask(path));

/** Go to a path of ours; `replace` leaves no entry in the history. */
export function go(path: string, { replace = false } = {}): boolean {
  if (path === location.pathname + location.search) return true;
  const same = path.split("?")[0] === location.pathname;
  if (!same && !mayLeave(path)) return false;
  if (!replace) depth += 1;
  history[replace ? "replaceState" : "pushState"]({ depth }, "", path);
  current = parse();
  return true;
}

/** Close what this address shows: Back where that is a page of ours, else up to `parent`. */
export function leave(parent: string): void {
  if (depth > 0) history.back();
  else go(parent, { replace: true });
}

function stepped(event: PopStateEvent): void {
  const before = depth;
  depth = Number(event.state?.depth ?? 0);
  if (restoring) {
    restoring -= 1;
    return;
  }
  if (location.pathname !== current.path && !mayLeave(location.pathname)) {
    restoring += 1;
    history.go(before - depth || 1);
    return;
  }
  current = parse();
}

/** Follow links of ours without loading the page again. */
function clicked(event: MouseEvent): void {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element | null)?.closest?.("a[href]");
  if (!(link instanceof HTMLAnchorElement) || link.target || link.origin !== location.origin || link.hasAttribute("download")) return;
  event.preventDefault();
  go(link.pathname + link.search);
}

/** Begin to follow the address. An old address, the name of a conversation after the #, leads to its page. */
export function follow(): void {
  const old = location.hash.slice(1);
  if (location.pathname === "/" && NAME.test(old)) history.replaceState({ depth }, "", chat(old));
  current = parse();
  addEventListener("popstate", stepped);
  document.addEventListener("click", clicked);
}

export const chat = (name: string, rest = ""): string => `/c/${encodeURIComponent(name)}${rest}`;

/** The conversation of this place, "" where it names none. */
export function conversationOf(where: Place): string {
  const name = where.parts[0] === "c" ? (where.parts[1] ?? "") : "";
  return NAME.test(name) ? name : "";
}
