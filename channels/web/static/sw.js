// The worker of the installed app. It stores nothing: what was shared waits in memory for the page, and no answer of the
// server is kept. A notification says that something is there, and nothing of it.
"use strict";

const SHARE = "/share";
const KEPT_MS = 60_000;
const MOST_FILES = 10;
const TEXTS = ["title", "text", "url"];
/** What was shared last, until the page has taken it. */
let shared = null;

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "POST" || url.origin !== self.location.origin || url.pathname !== SHARE) return;
  event.respondWith(receive(event.request));
});

async function receive(request) {
  try {
    const form = await request.formData();
    const texts = TEXTS.map((name) => form.get(name)).filter((text) => typeof text === "string" && text.trim());
    const files = form.getAll("files").filter((file) => file instanceof File).slice(0, MOST_FILES);
    shared = { text: [...new Set(texts)].join("\n"), files, until: Date.now() + KEPT_MS };
  } catch {
    shared = null;
  }
  return Response.redirect(SHARE, 303);
}

self.addEventListener("message", (event) => {
  if (event.data !== "shared") return;
  const given = shared && shared.until > Date.now() ? { text: shared.text, files: shared.files } : null;
  shared = null;
  event.ports[0].postMessage(given);
});

self.addEventListener("push", (event) => {
  let pushed = {};
  try {
    pushed = event.data.json();
  } catch {
    // The notification has to be shown all the same.
  }
  const options = { body: String(pushed.text ?? ""), icon: "/static/icon-192.png", tag: "mnema", data: pathOf(pushed.path) };
  event.waitUntil(self.registration.showNotification("mnema", options));
});

/** A path of the chat, whatever was sent. */
function pathOf(path) {
  return /^\/c(\/[\w.:-]{1,128})?$/.test(path) ? path : "/c";
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data));
});

async function show(path) {
  const [window] = await self.clients.matchAll({ type: "window" });
  if (!window) return self.clients.openWindow(path);
  await window.focus();
  window.postMessage({ open: path });
}
