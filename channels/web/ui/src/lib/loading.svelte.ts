// What a page reads from the server, at once or page by page, and what it does there.

import { reason } from "./api";

/** A value that can be read again. */
export class Loading<Value> {
  /** Null until it is there. */
  value = $state.raw<Value | null>(null);
  /** Why it could not be read the last time, "" where it could. */
  why = $state("");

  constructor(private readonly ask: () => Promise<Value>) {}

  private round = 0;

  /** Read it; what was asked for before this is not taken any more. */
  read = async (): Promise<void> => {
    const round = ++this.round;
    try {
      const value = await this.ask();
      if (round === this.round) [this.value, this.why] = [value, ""];
    } catch (err) {
      if (round === this.round) this.why = reason(err);
    }
  };
}

/** Something that is done at a press, one at a time. */
export class Doing {
  busy = $state(false);
  /** Why it could not be done the last time, "" where it could. */
  why = $state("");

  constructor(private readonly describe: (err: unknown) => string = reason) {}

  /** True where it was done. */
  run = async (act: () => Promise<unknown>): Promise<boolean> => {
    this.busy = true;
    this.why = "";
    try {
      await act();
      return true;
    } catch (err) {
      this.why = this.describe(err);
      return false;
    } finally {
      this.busy = false;
    }
  };
}

/** A list that is read page by page; what is shown stays until the first page of another one is there. */
export class Paged<Item> {
  items = $state.raw<Item[]>([]);
  /** Of the page that comes next, null after the last. */
  cursor = $state<string | null>("");
  why = $state("");
  busy = $state(false);
  private round = 0;
  private loaded = $state(false);

  constructor(private readonly ask: (cursor: string) => Promise<{ items: Item[]; next?: string | null }>) {}

  /** What is there so far; null before the first page. */
  get value(): Item[] | null {
    return this.loaded ? this.items : null;
  }

  read = async (): Promise<void> => {
    const { round, cursor } = this;
    if (cursor === null || this.busy) return;
    this.busy = true;
    try {
      const page = await this.ask(cursor);
      if (round !== this.round) return;
      this.items = cursor ? [...this.items, ...page.items] : page.items;
      this.cursor = page.next ?? null;
      this.why = "";
    } catch (err) {
      if (round === this.round) this.why = reason(err);
    }
    if (round !== this.round) return;
    this.loaded = true;
    this.busy = false;
  };

  /** From the first page, as something else is asked for. */
  again(): void {
    this.round += 1;
    this.cursor = "";
    this.busy = false;
    void this.read();
  }
}
