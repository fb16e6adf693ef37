// The list of conversations: read page by page, newest first, and moved by the stream.

import { ApiError, conversation, get } from "../lib/api";
import type { ConversationPage, ConversationSummary, SearchHit, SearchHits } from "../lib/types";

const PAGE = 100;
const MOST = 200;
const SAID = 8;

export type ListState = "" | "unread" | "archived";

/** Messages of one's own conversations that answer these words, best first. */
export const findSaid = async (words: string, limit: number): Promise<SearchHit[]> =>
  (await get<SearchHits>(`/memory/search?kind=said&limit=${limit}&q=${encodeURIComponent(words)}`)).items;

export class Conversations {
  /** Sorted, newest first. */
  shown = $state.raw<ConversationSummary[]>([]);
  loaded = $state(false);
  failed = $state("");
  more = $state(false);
  query = $state("");
  /** What was said in one's own conversations, for the words that are looked for. */
  said = $state.raw<SearchHit[]>([]);
  channel = $state("");
  filter = $state<ListState>("");
  /** Channels of the conversations that were seen. */
  channels = $state.raw<string[]>([]);
  private known = new Map<string, ConversationSummary>();
  private next: string | null = null;
  private reading: Promise<void> | null = null;
  private due = false;

  /** Read the list from its beginning, as far as it was read before in one go. */
  async read(keep = ""): Promise<void> {
    const query = this.asked();
    const limit = this.known.size > PAGE ? MOST : PAGE;
    try {
      const { items, next } = await get<ConversationPage>(`/conversations?limit=${limit}${this.asked()}`);
      if (query !== this.asked()) return;
      const here = this.known.get(keep);
      this.known = new Map(items.map((one) => [one.id, one]));
      if (here && !query && !here.deleting && !this.known.has(here.id)) this.known.set(here.id, here);
      this.next = next ?? null;
      this.failed = "";
      this.loaded = true;
    } catch (err) {
      this.failed = err instanceof Error ? err.message || "unreachable" : "unreachable";
    }
    this.draw();
  }

  /** What is asked for as a query, "" for everything that is not archived. */
  private asked(): string {
    const wanted = { q: this.query, channel: this.channel, state: this.filter };
    const given = Object.entries(wanted).filter(([, value]) => value);
    return given.map(([name, value]) => `&${name}=${encodeURIComponent(value)}`).join("");
  }

  get filtered(): boolean {
    return this.asked() !== "";
  }

  /** Show only what is of this channel or in this state. */
  async narrow(change: { channel?: string; filter?: ListState }): Promise<void> {
    this.channel = change.channel ?? this.channel;
    this.filter = change.filter ?? this.filter;
    this.known = new Map();
    this.next = null;
    await this.read();
  }

  /** Show only the conversations whose title or name holds these words. */
  async search(words: string): Promise<void> {
    if (words === this.query) return;
    this.query = words;
    this.known = new Map();
    this.next = null;
    this.said = [];
    if (words) {
      void findSaid(words, SAID)
        .then((said) => words === this.query && (this.said = said))
        .catch(() => {}); // the conversations are found all the same
    }
    await this.read();
  }

  /** The next page, once at a time. */
  earlier(): void {
    if (!this.next) return;
    const query = this.asked();
    this.reading ??= get<ConversationPage>(
      `/conversations?limit=${PAGE}&cursor=${encodeURIComponent(this.next)}${this.asked()}`,
    )
      .then(({ items, next }) => {
        if (query !== this.asked()) return;
        // What the stream has told meanwhile is newer than this page.
        for (const one of items) if (!this.known.has(one.id)) this.known.set(one.id, one);
        this.next = next ?? null;
        this.draw();
      })
      .catch(() => {}) // the list can be scrolled again
      .finally(() => (this.reading = null));
  }

  /** The entry of a conversation, asked for where the list has not come to it; null when nobody has written in it. */
  async entry(name: string): Promise<ConversationSummary | null> {
    const known = this.known.get(name);
    if (known) return known;
    try {
      const found = await get<ConversationSummary>(conversation(name));
      if (!this.filtered && !found.archived && !found.deleting) this.known.set(name, found);
      this.draw();
      return found;
    } catch (err) {
      if (!(err instanceof ApiError) || err.status !== 404) throw err;
      return null;
    }
  }

  /** The stream says that this one has changed. */
  changed(entry: ConversationSummary): void {
    if (!this.fits(entry)) this.known.delete(entry.id);
    else if (this.query && !this.known.has(entry.id)) return;
    else this.known.set(entry.id, entry);
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => this.draw());
  }

  /** Whether it belongs to what is shown; words are for the server to find. */
  private fits(entry: ConversationSummary): boolean {
    if (entry.deleting || (this.channel && entry.channel !== this.channel)) return false;
    if (this.filter === "archived") return entry.archived;
    if (this.filter === "unread") return entry.unread > 0 || this.known.has(entry.id);
    return !entry.archived;
  }

  private draw(): void {
    this.due = false;
    this.more = Boolean(this.next);
    this.shown = [...this.known.values()].sort(
      (one, other) =>
        Number(other.pinned ?? false) - Number(one.pinned ?? false) || (one.updated_at < other.updated_at ? 1 : -1),
    );
    const channels = new Set([...this.channels, ...this.shown.map((one) => one.channel)]);
    if (channels.size > this.channels.length) this.channels = [...channels].sort();
  }
}
