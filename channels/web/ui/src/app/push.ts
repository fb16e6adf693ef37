// Notifications of this browser: asked for here, sent by the bot through the browser's push service. Loaded on use.

import { get, send } from "../lib/api";
import { language } from "../lib/locale.svelte";
import type { Push, PushOffer } from "../lib/types";
import { turnOn } from "./worker";

const ID = "mnema.push";

/** Whether this browser has what it takes. */
export const canNotify = (): boolean => isSecureContext && "serviceWorker" in navigator && "PushManager" in window;

export const offer = (): Promise<PushOffer> => get<PushOffer>(`/push?id=${encodeURIComponent(localStorage.getItem(ID) ?? "")}`);

/** Ask the person, subscribe, and tell the bot; false where the person says no. */
export async function subscribe(key: string): Promise<boolean> {
  if ((await Notification.requestPermission()) !== "granted") return false;
  await turnOn();
  const { pushManager } = await navigator.serviceWorker.ready;
  await (await pushManager.getSubscription())?.unsubscribe(); // it may be of another key
  const { endpoint, keys } = (await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key })).toJSON();
  const body = { endpoint, p256dh: keys?.p256dh, auth: keys?.auth, language: language() };
  localStorage.setItem(ID, (await send<Push>("POST", "/push", body)).body.id);
  return true;
}

export async function unsubscribe(): Promise<void> {
  const id = localStorage.getItem(ID);
  localStorage.removeItem(ID);
  const worker = await navigator.serviceWorker.getRegistration("/");
  await (await worker?.pushManager.getSubscription())?.unsubscribe();
  if (id) await send("DELETE", `/push/${encodeURIComponent(id)}`);
}
