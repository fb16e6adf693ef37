// What is being sent: one message after another, each until the server has taken it, under a key that makes repeats harmless.

import { ApiError, send } from "../lib/api";
import type { Accepted } from "../lib/types";

export interface Attached {
  name: string;
  media_type: string;
  /** Base64. */
  data: string;
  size: number;
}

export interface Outgoing {
  /** Name of the conversation. */
  name: string;
  key: string;
  text: string;
  attachments: Attached[];
}

export interface Sending {
  onsending(item: Outgoing): void;
  ontaken(item: Outgoing, id: string): void;
  onfailed(item: Outgoing, err: ApiError): void;
}

const STORED = "mnema.outbox";
const TRIES = 6;
const draftKey = (name: string): string => `mnema.text.${name}`;

/** The text that is not sent yet. */
export const draft = {
  read: (name: string): string => localStorage.getItem(draftKey(name)) ?? "",
  write(name: string, text: string): void {
    if (text) localStorage.setItem(draftKey(name), text);
    else localStorage.removeItem(draftKey(name));
  },
};

/** Files that another app has shared, by the conversation for whose box they are. */
export const handed = new Map<string, File[]>();

interface Stored {
  name: string;
  key: string;
  text: string;
  files: number;
}

const stored = (): Stored[] => JSON.parse(localStorage.getItem(STORED) ?? "[]");
const keep = (items: Stored[]): void => localStorage.setItem(STORED, JSON.stringify(items));

export class Outbox {
  private deliveries: Promise<void> = Promise.resolve();

  constructor(private readonly sending: Sending) {}

  /** What was not taken before the page went away: sent again, or, where files are lost, written back into the box. */
  resume(): void {
    const left = stored();
    for (const item of left.filter((one) => one.files)) draft.write(item.name, item.text);
    const whole = left.filter((one) => !one.files);
    keep(whole);
    for (const { name, key, text } of whole) this.deliver({ name, key, text, attachments: [] });
  }

  /** Send something new. */
  send(name: string, text: string, attachments: Attached[]): void {
    const item = { name, key: crypto.randomUUID(), text, attachments };
    keep([...stored(), { name, key: item.key, text, files: attachments.length }]);
    this.deliver(item);
  }

  /** One after another, so that they arrive in the order in which they were written. */
  deliver(item: Outgoing): void {
    this.sending.onsending(item);
    this.deliveries = this.deliveries.then(() => this.push(item));
  }

  /** Send until it is taken: the key stays the same, so however often it arrives it is one message. */
  private async push(item: Outgoing): Promise<void> {
    const attachments = item.attachments.map(({ name, media_type, data }) => ({ name, media_type, data }));
    const body = { conversation: item.name, text: item.text, key: item.key, ...(attachments.length ? { attachments } : {}) };
    for (let tries = 1; ; tries += 1) {
      try {
        const { id } = (await send<Accepted>("POST", "/messages", body)).body;
        this.done(item);
        this.sending.ontaken(item, id);
        return;
      } catch (err) {
        const refused = err instanceof ApiError ? err : new ApiError(0, "unreachable", "");
        const passing = refused.status === 0 || refused.status === 503;
        if (passing && tries < TRIES) {
          await new Promise((next) => setTimeout(next, 400 * 2 ** tries));
          continue;
        }
        if (!passing) this.done(item);
        this.sending.onfailed(item, refused);
        return;
      }
    }
  }

  private done(item: Outgoing): void {
    keep(stored().filter((other) => other.key !== item.key));
  }
}
