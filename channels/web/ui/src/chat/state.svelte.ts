// What this tab has open: the list, one conversation, the one stream that moves both, and what is being sent.

import { ApiError, conversation, get, post, reason, send } from "../lib/api";
import { Live, type LiveData } from "../lib/live";
import { t } from "../lib/locale.svelte";
import { chat, conversationOf, go, place } from "../lib/router.svelte";
import { attempt, toast } from "../lib/toasts.svelte";
import type {
  Branch,
  Command,
  ContextFacts,
  ConversationChoice,
  ConversationSummary,
  Deletion,
  FoldProgress,
  TranscriptMessage,
} from "../lib/types";
import { lookSoon } from "../lib/waiting.svelte";
import { Conversations } from "./list.svelte";
import { Outbox, type Attached, type Outgoing } from "./outbox";
import { Transcript } from "./transcript.svelte";

const STORED: Record<string, "user" | "assistant" | "notice"> = { accepted: "user", reply: "assistant", notice: "notice" };
const SETTLE_MS = 250;
const SEEN_MS = 400;
const FOLD_SEEN_MS = 4000;

export const newName = (): string => `chat-${crypto.randomUUID().slice(0, 8)}`;

export const titleOf = (entry: ConversationSummary | null): string =>
  entry?.whose === "other" && !entry.named ? t("chat_of", { who: entry.person || entry.title }) : entry?.title || t("new");

/** The messenger that it is of, "" for this page and a terminal. */
export const messengerOf = (entry: ConversationSummary | null): string =>
  entry && !["web", "terminal"].includes(entry.channel) ? entry.channel : "";

export class ChatState {
  readonly list = new Conversations();
  readonly outbox = new Outbox({
    onsending: (item) => this.of(item)?.sending(item),
    ontaken: (item, id) => this.taken(item, id),
    onfailed: (item, err) => this.of(item)?.failed(item, err),
  });
  commands = $state.raw<Command[]>([]);
  online = $state(true);
  transcript = $state.raw<Transcript | null>(null);
  entry = $state.raw<ConversationSummary | null>(null);
  /** Whether the entry of the open conversation is known. */
  known = $state(false);
  /** Another person's private chat, which is shown once it is asked for. */
  closed = $state(false);
  facts = $state.raw<ContextFacts | null>(null);
  fold = $state.raw<FoldProgress | null>(null);
  private live: Live | null = null;
  private begun = false;
  /** Calls that may lead to an open conversation, and so to its stream. */
  private opening = 0;
  /** What the stream tells its events to. */
  private followed: Transcript | null = null;
  /** The line that the address names. */
  private at = "";
  private seenLine = 0;
  private telling = 0;
  private settling = 0;
  private folding = 0;
  private asked = 0;

  /** Begin after a login. */
  async begin(): Promise<void> {
    const [commands] = await Promise.all([
      get<{ items: Command[] }>("/commands").catch(() => ({ items: [] })),
      this.list.read(),
    ]);
    this.commands = commands.items;
    this.begun = true;
    this.listen();
    this.outbox.resume();
  }

  /** Follow the list alone, unless there is a stream or a conversation is about to bring one. */
  private listen(): void {
    if (this.begun && !this.live && !this.opening) this.follow("");
  }

  /** Wait for what may lead to an open conversation; until then no stream is opened for the list alone. */
  async leading<Value>(work: Promise<Value>): Promise<Value> {
    this.opening += 1;
    try {
      return await work;
    } finally {
      this.opening -= 1;
      setTimeout(() => this.listen()); // after what follows on this, which may be the next such call
    }
  }

  /** Where somebody who has just come in begins: in their own newest conversation, never in another person's. */
  async first(): Promise<string> {
    const { items } = await get<{ items: ConversationSummary[] }>("/conversations?own=true&limit=1");
    return items[0]?.id ?? newName();
  }

  private of = (item: Outgoing): Transcript | null => (this.transcript?.name === item.name ? this.transcript : null);

  /** Show this conversation from now on, at a line that is named; again, where it could not be read before. */
  open(name: string, at = ""): Promise<void> {
    return this.leading(this.show(name, at));
  }

  private async show(name: string, at: string): Promise<void> {
    const moved = at !== this.at;
    this.at = at;
    if (this.transcript?.name === name && !this.transcript.why) {
      const there = this.transcript.loaded || this.transcript.items.length > 0; // one that was new here was never read
      if (at && moved && there) await this.transcript.around(at).catch(() => false);
      return;
    }
    if (this.transcript) this.transcript.left = true;
    const transcript = new Transcript(name);
    this.transcript = transcript;
    this.entry = null;
    this.known = false;
    this.closed = false;
    this.facts = null;
    this.seenLine = 0;
    this.asked += 1;
    this.quiet();
    let entry: ConversationSummary | null = null;
    try {
      entry = await this.list.entry(name);
    } catch (err) {
      transcript.why = reason(err);
      return;
    }
    if (this.transcript !== transcript) return;
    this.entry = entry;
    transcript.openedAt = entry ? Date.parse(entry.updated_at) : 0;
    this.known = true;
    if (entry?.whose !== "other") return this.enter(transcript);
    this.closed = true;
    this.follow("");
  }

  /** Open another person's chat; it is written to the audit list. */
  async unlock(): Promise<void> {
    const { transcript } = this;
    if (!transcript) return;
    await post(conversation(transcript.name, "open"));
    if (this.transcript !== transcript) return;
    this.closed = false;
    await this.enter(transcript);
  }

  private async enter(transcript: Transcript): Promise<void> {
    let exists = false;
    try {
      exists = await transcript.load(this.at);
    } catch (err) {
      transcript.why = reason(err);
      return;
    }
    if (this.transcript !== transcript) return;
    this.follow(exists ? transcript.name : "");
    void this.measure(exists ? transcript : null);
  }

  /** Read how full the context is. */
  async measure(transcript: Transcript | null): Promise<void> {
    const mine = ++this.asked;
    const facts = transcript ? await get<ContextFacts>(conversation(transcript.name, "context")).catch(() => null) : null;
    if (mine !== this.asked) return;
    this.facts = facts;
    if (facts?.folding && !this.fold) this.progress(facts.folding);
  }

  /** One stream: of the list, and of that conversation unless it is "". */
  private follow(name: string): void {
    const { transcript } = this;
    if (this.live?.name === name && (!name || this.followed === transcript)) return;
    this.live?.close();
    this.followed = transcript;
    this.live = new Live(name, {
      after: () => transcript?.newest ?? 0,
      onchat: (event, data) => this.transcript === transcript && transcript && this.hear(transcript, event, data),
      onlist: (event, data) => this.moved(event, data),
      onlink: (up) => (this.online = up),
      onback: () => {
        void this.list.read(this.transcript?.name);
        if (this.transcript?.why) void this.open(this.transcript.name);
      },
    });
  }

  private hear(transcript: Transcript, name: string, data: LiveData): void {
    const role = STORED[name];
    if (role && data.line) {
      const reply_to = name === "accepted" ? null : (data.message_id ?? null);
      transcript.line({ ...(data as unknown as TranscriptMessage), role, text: data.text ?? "", reply_to });
      this.settle(transcript);
    } else if (name === "fold") {
      this.progress(data as unknown as FoldProgress);
      this.settle(transcript);
    } else if (name === "context") void this.measure(transcript);
    else transcript.hear(name, data);
  }

  private settle(transcript: Transcript): void {
    clearTimeout(this.settling);
    this.settling = window.setTimeout(() => {
      if (this.transcript === transcript) void this.measure(transcript);
    }, SETTLE_MS);
  }

  /** Something has changed in the list: what is open here may have a title now, or lines that no stream brings. */
  private moved(event: string, data: LiveData): void {
    lookSoon();
    if (event === "reset") return void this.look();
    const entry = data as unknown as ConversationSummary;
    this.list.changed(entry);
    const { transcript } = this;
    if (!transcript || entry.id !== transcript.name) return;
    const known = this.entry;
    if (entry.deleting && known && !known.deleting) return this.gone(known);
    this.entry = entry;
    if (!known) this.follow(transcript.name);
    else if (transcript.loaded && !transcript.detached && messengerOf(entry))
      void transcript.load().then(() => this.settle(transcript), () => {});
  }

  /** Read the list again, and whether what is open here is still there. */
  private async look(): Promise<void> {
    const { transcript, entry } = this;
    void this.list.read(transcript?.name);
    if (!entry) return;
    const found = await get(conversation(entry.id)).catch((err: unknown) => err);
    if (found instanceof ApiError && found.status === 404 && this.transcript === transcript) this.gone(entry);
  }

  /** What is open here was deleted elsewhere. */
  private gone(entry: ConversationSummary): void {
    this.entry = { ...entry, deleting: true };
    this.list.changed(this.entry);
    toast(t("deleted", { title: titleOf(entry) }));
    if (conversationOf(place()) === entry.id) go("/c");
  }

  private progress(fold: FoldProgress): void {
    clearTimeout(this.folding);
    this.fold = fold;
    if (fold.state === "folded" || fold.state === "stale") this.folding = window.setTimeout(() => this.quiet(), FOLD_SEEN_MS);
  }

  private quiet(): void {
    clearTimeout(this.folding);
    this.fold = null;
  }

  /** Words for the box of the open conversation, taken by it. */
  wanted = $state("");

  /** Put words into the box, in the newest conversation of one's own where none is open. */
  write(words: string): void {
    this.wanted = words;
    if (!location.pathname.startsWith("/c/")) go("/c");
  }

  /** Set title, pin or archive of a conversation, over the state in which it was seen. */
  async choose(entry: ConversationSummary, change: ConversationChoice): Promise<void> {
    await this.changing(entry, async (headers) => {
      const { body } = await send<ConversationSummary>("PATCH", conversation(entry.id), change, headers);
      this.took(body);
    });
  }

  /** Take a conversation out of the list; it can be brought back as long as the server says. */
  async remove(entry: ConversationSummary): Promise<void> {
    await this.changing(entry, async (headers) => {
      const { body } = await send<Deletion>("DELETE", conversation(entry.id), {}, headers);
      this.list.changed({ ...entry, deleting: true });
      if (this.transcript?.name === entry.id) this.entry = { ...entry, deleting: true };
      const act = { label: t("undo"), run: () => void this.restore(entry.id) };
      toast(t("deleted", { title: titleOf(entry) }), act, body.seconds * 1000);
      if (this.transcript?.name === entry.id) go("/c");
    });
  }

  private async restore(name: string): Promise<void> {
    await attempt(async () => this.took(await post<ConversationSummary>(conversation(name, "restore"))));
  }

  private async changing(entry: ConversationSummary, act: (headers: Record<string, string>) => Promise<void>): Promise<void> {
    try {
      await act({ "if-match": `"${entry.etag}"` });
    } catch (err) {
      if (err instanceof ApiError && err.status === 412) this.took(await get<ConversationSummary>(conversation(entry.id)));
      throw err;
    }
  }

  private took(entry: ConversationSummary): void {
    this.list.changed(entry);
    if (this.transcript?.name === entry.id) this.entry = entry;
  }

  /** Everything up to this line has been on the screen. */
  seen(line: number): void {
    const { transcript } = this;
    if (!transcript || document.hidden || line <= this.seenLine) return;
    this.seenLine = line;
    clearTimeout(this.telling);
    this.telling = window.setTimeout(() => {
      if (this.transcript === transcript) void post(conversation(transcript.name, "seen"), { line }).catch(() => {});
    }, SEEN_MS);
  }

  send(text: string, attachments: Attached[] = []): void {
    if (this.transcript) this.outbox.send(this.transcript.name, text, attachments);
  }

  /** Send other words in place of a message, in a branch: a conversation of its own with what was said before it. */
  async branch(message: string, text: string, attachments: Attached[]): Promise<void> {
    const { transcript } = this;
    if (!transcript) return;
    const name = newName();
    await post(conversation(transcript.name, "branches"), { message, name } satisfies Branch);
    this.outbox.send(name, text, attachments);
    go(chat(name));
  }

  private taken(item: Outgoing, id: string): void {
    const transcript = this.of(item);
    transcript?.taken(item, id);
    if (transcript) this.follow(transcript.name);
  }

  async stop(): Promise<void> {
    const name = this.transcript?.name;
    if (name) await attempt(() => post(conversation(name, "stop")), t("stopped"));
  }

  close(): void {
    this.begun = false;
    this.live?.close();
  }
}
