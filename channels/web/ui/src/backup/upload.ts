// A file that is sent in pieces: each fits into a small request, so that no proxy refuses it and nobody holds all of it.

import { send } from "../lib/api";
import type { Upload } from "../lib/types";

export const PIECE_BYTES = 700_000;

async function base64(piece: Blob): Promise<string> {
  const bytes = new Uint8Array(await piece.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 32_768) text += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  return btoa(text);
}

/** Send the file; returns its name there. onprogress: how many bytes have arrived. stopped: asked before each piece. */
export async function upload(file: File, onprogress: (received: number) => void, stopped: () => boolean): Promise<string> {
  const { body: begun } = await send<Upload>("POST", "/backups/uploads", { name: file.name, size: file.size });
  let received = 0;
  while (received < file.size) {
    if (stopped()) return "";
    const data = await base64(file.slice(received, received + PIECE_BYTES));
    const answer = await send<Upload>("PUT", `/backups/uploads/${begun.id}`, { offset: received, data });
    received = answer.body.received;
    onprogress(received);
  }
  return begun.name;
}
