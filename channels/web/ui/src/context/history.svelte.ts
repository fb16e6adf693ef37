// The past requests of a conversation, oldest first, as far as they are loaded.

import { conversation, get, reason } from "../lib/api";
import type { PastView, PastViewPage } from "../lib/types";

const PAGE = 100;

export class History {
  rows = $state.raw<PastView[]>([]);
  loaded = $state(false);
  why = $state("");
  /** Cursor of the page before the oldest one here, null where there is none. */
  earlier = $state<string | null>(null);
  private reading = false;
  private again = false;

  constructor(readonly name: string) {}

  /** Read the newest ones; what came meanwhile is added to what is known. */
  async refresh(): Promise<void> {
    if (this.reading) {
      this.again = true;
      return;
    }
    this.reading = true;
    try {
      const page = await get<PastViewPage>(conversation(this.name, `views?limit=${PAGE}`));
      const newest = page.items.toReversed();
      const first = newest[0]?.number ?? 0;
      const known = this.rows.filter((one) => one.number < first);
      const joined = known.at(-1)?.number === first - 1;
      this.rows = joined ? [...known, ...newest] : newest;
      if (!joined) this.earlier = page.next;
      this.loaded = true;
      this.why = "";
    } catch (err) {
      this.why = reason(err);
    }
    this.reading = false;
    if (this.again) {
      this.again = false;
      await this.refresh();
    }
  }

  async older(): Promise<void> {
    if (this.earlier === null || this.reading) return;
    this.reading = true;
    try {
      const page = await get<PastViewPage>(conversation(this.name, `views?limit=${PAGE}&cursor=${this.earlier}`));
      this.rows = [...page.items.toReversed(), ...this.rows];
      this.earlier = page.next;
    } catch (err) {
      this.why = reason(err);
    }
    this.reading = false;
  }
}
