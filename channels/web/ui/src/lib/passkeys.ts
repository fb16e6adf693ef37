// Passkeys: made by the browser and its device, checked by the server.

import { ApiError, begin, call, post } from "./api";

type Options = Record<string, unknown>;
/** The browser turns JSON into what the device takes, and back. */
const able = (): boolean =>
  typeof PublicKeyCredential === "function" && "parseRequestOptionsFromJSON" in PublicKeyCredential && "toJSON" in PublicKeyCredential.prototype;

const toJson = (made: Credential | null): unknown => (made as PublicKeyCredential).toJSON();

/** Whether this browser can make passkeys. */
export const canUse = able;

/** Whether somebody may sign in with one here. */
export async function isOffered(): Promise<boolean> {
  return able() && (await loginOptions().catch(() => null)) !== null;
}

const loginOptions = async (): Promise<Options | null> =>
  (await call<{ options: Options | null }>("GET", "/login/passkey")).body.options;

/** Sign in; false where the person or the device has given up. */
export async function signIn(): Promise<boolean> {
  const options = await loginOptions();
  if (!options) return false;
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as never);
  const made = await ask(() => navigator.credentials.get({ publicKey }));
  if (!made) return false;
  await call("POST", "/login/passkey", { credential: toJson(made) });
  await begin();
  return true;
}

/** Make a passkey and store it on the server; false where it was given up. */
export async function add(name: string): Promise<boolean> {
  const { options } = await post<{ options: Options }>("/passkeys/options");
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as never);
  const made = await ask(() => navigator.credentials.create({ publicKey }));
  if (!made) return false;
  await post("/passkeys", { name, credential: toJson(made) });
  return true;
}

/** What the browser says when a person closes its dialog, when time is up, or when the device has a key already. */
const GIVEN_UP = ["NotAllowedError", "AbortError", "InvalidStateError"];

async function ask(make: () => Promise<Credential | null>): Promise<Credential | null> {
  try {
    return await make();
  } catch (err) {
    if (err instanceof DOMException && GIVEN_UP.includes(err.name)) return null;
    throw err instanceof DOMException ? new ApiError(0, err.name, err.message) : err;
  }
}
