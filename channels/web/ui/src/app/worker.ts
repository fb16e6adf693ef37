// The worker of the app on a phone: with it other apps can share into a new message. Loaded on use.

import { draft, handed } from "../chat/outbox";
import { newName } from "../chat/state.svelte";
import { chat, go } from "../lib/router.svelte";
import { workerAddress } from "../lib/trusted";

const WAIT_MS = 3000;

interface Shared {
  text: string;
  files: File[];
}

/** Whether this browser can have it, at this address. */
export const isPossible = (): boolean => isSecureContext && "serviceWorker" in navigator;

export const isOn = async (): Promise<boolean> => isPossible() && Boolean(await navigator.serviceWorker.getRegistration("/"));

export async function turnOn(): Promise<void> {
  if (!isPossible()) return;
  await navigator.serviceWorker.register(workerAddress(), { scope: "/" });
  await navigator.serviceWorker.ready;
}

/** A press on a notification opens its conversation in the window that is there. */
export function followNotifications(): void {
  if (!isPossible()) return;
  navigator.serviceWorker.addEventListener("message", ({ data }) => {
    if (typeof data?.open === "string" && data.open.startsWith("/c")) go(data.open);
  });
}

export async function turnOff(): Promise<void> {
  await (await navigator.serviceWorker.getRegistration("/"))?.unregister();
}

/** Put what another app has shared into the box of a new conversation: it is sent by a press only. */
export async function beginShared(): Promise<void> {
  const shared = isPossible() ? await taken() : null;
  const name = newName();
  if (shared?.text) draft.write(name, shared.text);
  if (shared?.files.length) handed.set(name, shared.files);
  go(chat(name), { replace: true });
}

function taken(): Promise<Shared | null> {
  const worker = navigator.serviceWorker.controller;
  if (!worker) return Promise.resolve(null);
  return new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => done(data as Shared | null);
    setTimeout(() => done(null), WAIT_MS);
    worker.postMessage("shared", [port2]);
  });
}
