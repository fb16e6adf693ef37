// Calls of the server's API: JSON in, JSON out, one kind of error.

import { language, t } from "./locale.svelte";
import type { Session } from "./types";

const BASE = "/api/v1";

/** A call that was refused. status 0: the server was not reached. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export interface Answer<Body> {
  body: Body;
  headers: Headers;
}

let csrf = "";
let onlogout = (): void => {};

let askAgain: () => Promise<boolean> = async () => false;
let asking: Promise<boolean> | null = null;

/** Called when an act needs a login of the last minutes; true once there is one, and the act is repeated. */
export function whenLoginIsOld(ask: () => Promise<boolean>): void {
  askAgain = ask;
}

/** Called when the login has ended. */
export function whenLoggedOut(act: () => void): void {
  onlogout = act;
}

export async function call<Body>(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  repeated = false,
): Promise<Answer<Body>> {
  const options: RequestInit = {
    method,
    headers: { accept: "application/json", "accept-language": language(), ...headers },
    credentials: "same-origin",
  };
  if (method !== "GET") {
    options.headers = { ...options.headers, "content-type": "application/json", "x-csrf-token": csrf };
    options.body = JSON.stringify(body ?? {});
  }
  let answer: Response;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new ApiError(0, "unreachable", "");
  }
  const read = await answer.json().catch(() => {
    if (answer.ok) throw new ApiError(0, "unreachable", ""); // cut off in the middle
    return {};
  });
  if (answer.ok) return { body: read as Body, headers: answer.headers };
  if (answer.status === 401 && !path.startsWith("/login")) onlogout();
  const code = answer.status === 403 && !repeated ? read.error?.code : "";
  const mayRepeat =
    code === "login_again" ? await (asking ??= askAgain().finally(() => (asking = null))) : code === "csrf" && (await begin()); // logged in again in another tab
  if (mayRepeat) return call<Body>(method, path, body, headers, true);
  throw new ApiError(answer.status, read.error?.code ?? "http", read.error?.message ?? `HTTP ${answer.status}`);
}

export const get = async <Body>(path: string): Promise<Body> => (await call<Body>("GET", BASE + path)).body;
export const read = <Body>(path: string): Promise<Answer<Body>> => call<Body>("GET", BASE + path);
export const send = <Body>(
  method: "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
): Promise<Answer<Body>> => call<Body>(method, BASE + path, body, headers);
export const post = async <Body = unknown>(path: string, body?: unknown): Promise<Body> =>
  (await send<Body>("POST", path, body)).body;

/** The lines of a reply that comes bit by bit, each a JSON value. */
export async function* lines<Line>(path: string, body: unknown, signal: AbortSignal): AsyncGenerator<Line> {
  const headers = { "accept-language": language(), "content-type": "application/json", "x-csrf-token": csrf };
  const options: RequestInit = { method: "POST", headers, credentials: "same-origin", body: JSON.stringify(body), signal };
  const answer = await fetch(BASE + path, options).catch((err: unknown) => {
    throw signal.aborted ? err : new ApiError(0, "unreachable", "");
  });
  if (answer.status === 401) onlogout();
  if (!answer.ok || !answer.body) {
    const read = await answer.json().catch(() => ({}));
    throw new ApiError(answer.status, read.error?.code ?? "http", read.error?.message ?? `HTTP ${answer.status}`);
  }
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop()!;
    for (const part of parts) yield JSON.parse(part) as Line;
  }
}

export const address = (path: string): string => BASE + path;
export const conversation = (name: string, rest = ""): string =>
  `/conversations/${encodeURIComponent(name)}${rest ? `/${rest}` : ""}`;
export const file = (path: string): string => `/memory/files/${path.split("/").map(encodeURIComponent).join("/")}`;

/** Exchange the token for a cookie. */
export const login = (token: string): Promise<unknown> => call("POST", "/login", { token });

/**
 * Sign in by the code of a link that `mnema login` prints, where the address has one; the address is cleaned first.
 * Returns why it was refused, "" where it was not.
 */
export async function enterByLink(): Promise<string> {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (location.pathname !== "/login" || !code) return "";
  history.replaceState(history.state, "", "/");
  try {
    await call("POST", "/login", { code });
    return "";
  } catch (err) {
    return (err as Error).message; // the words are not loaded yet; "" where the server was not reached
  }
}

export const logout = (): Promise<unknown> => call("POST", "/logout");

/** Take up the session of this login, or return null where there is none; waits while the server is starting. */
export async function begin(): Promise<Session | null> {
  for (;;) {
    try {
      const session = await get<Session>("/session");
      csrf = session.csrf;
      return session;
    } catch (err) {
      if (!(err instanceof ApiError)) throw err;
      if (err.status === 401) return null;
      if (err.status !== 503 && err.status !== 0) throw err;
      await new Promise((done) => setTimeout(done, 500));
    }
  }
}

/** What to tell about a failed call. */
export const reason = (err: unknown): string => (err instanceof Error && err.message ? err.message : t("unreachable"));
