// One conversation as it is shown: a window of stored lines by their number, the answer as it grows, what is being sent.

import { ApiError, conversation, get } from "../lib/api";
import type { AnswerUsage, AskedApproval, BranchOrigin, LineFile, MessagePage, Recalled, Trace, TranscriptMessage } from "../lib/types";
import type { LiveData } from "../lib/live";
import type { Outgoing } from "./outbox";

const PAGE = 40;
/** Lines in the document at most, so that it stays small: more than that leave it at the other end. */
const MOST_LINES = 80;
const LAST = 1e15;

export type Role = "user" | "assistant" | "notice";

export interface Step {
  tool: string;
  number: number;
  began: number;
  /** Milliseconds; 0 while it works. */
  took: number;
  ok: boolean;
}

/** One bubble. */
export class Item {
  /** Id of the stored line, "" before it is stored. */
  id = $state("");
  text = $state("");
  at = $state("");
  replyTo = "";
  /** Place on the screen: the number of the stored line, or above all of them. */
  order = $state(LAST);
  /** An answer that is still being written. */
  growing = $state(false);
  planned = $state("");
  /** Why the model is called again, as words that the server names: [why, call, calls]. */
  waits = $state.raw<[string, number, number] | null>(null);
  /** When it began to grow, and when something of it came last. */
  began = 0;
  came = $state(0);
  step = $state(0);
  steps = $state<Step[]>([]);
  /** Tool calls of its turn, as the server counts them. */
  calls = $state(0);
  /** Of a notice that is the outcome of a call: the tool. */
  tool = $state("");
  /** In a group: who wrote it. */
  speaker = $state("");
  /** Typed on this page in a messenger's chat. */
  fromPage = $state(false);
  /** How that call ended, where a person decided over it. */
  callEnd = $state<TranscriptMessage["call_end"]>(null);
  /** Of the notice that begins a branch. */
  origin = $state.raw<BranchOrigin | null>(null);
  /** Of a notice that asks for an approval. */
  approval = $state.raw<AskedApproval | null>(null);
  /** Number of the turn that it ended, 0 for none. */
  turn = $state(0);
  files = $state.raw<LineFile[]>([]);
  recalled = $state.raw<Recalled[]>([]);
  usage = $state.raw<AnswerUsage[]>([]);
  failure = $state(false);
  /** How it stood when it was read. */
  state = $state<TranscriptMessage["state"]>(null);
  outgoing: Outgoing | null = null;
  pending = $state(false);
  /** Why it could not be sent. */
  refused = $state<ApiError | null>(null);

  constructor(readonly role: Role) {}

  get stored(): boolean {
    return this.order < LAST && Number.isInteger(this.order);
  }
}

export class Transcript {
  items = $state<Item[]>([]);
  loaded = $state(false);
  /** Why it could not be read. */
  why = $state("");
  /** Nobody has written here yet. */
  fresh = $state(false);
  more = $state(false);
  /** It has been longer than what is read at once. */
  long = $state(false);
  /** Newer lines have left the document: what happens now is not shown until they are back. */
  detached = $state(false);
  /** What to tell those who cannot see the screen. */
  said = $state<"" | "answer_began" | "answer_there">("");
  /** The line that the address names: it is looked for once it is there. */
  sought = $state(0);
  /** Lines that came while the reader was elsewhere; what was there when the chat was opened is none of them. */
  unseen = $state(0);
  /** The server's time of the newest line when it was opened. */
  openedAt = 0;
  newest = $state(0);
  left = false;
  private readonly byId = new Map<string, Item>();
  private readonly drafts = new Map<string, Item>();
  private readonly failures = new Map<string, Item>();
  private readonly answered = new Set<string>();
  private readonly noticed = new Set<string>();
  private readonly cut = new Set<string>(); // by message: what was shown of the answer stays above the notice
  private readonly pending = new Map<string, Item>();
  busy = $state(false);

  constructor(readonly name: string) {}

  /** Read the newest page, or that around a line; false when nobody has written here yet. */
  async load(around = ""): Promise<boolean> {
    try {
      if (around && (await this.around(around))) return true;
      const { items } = await this.page("");
      if (this.left) return false;
      if (!this.loaded) this.more = items.length === PAGE;
      for (const line of items) this.line(line);
      this.isThere();
      void this.learn();
      return true;
    } catch (err) {
      if (!(err instanceof ApiError) || err.status !== 404) throw err;
      if (!this.left) this.fresh = true;
      return false;
    }
  }

  /** Show the lines around this one; false where there is no such line. */
  async around(of: string): Promise<boolean> {
    let page: MessagePage;
    try {
      page = await this.page(`&around=${encodeURIComponent(of)}`);
    } catch (err) {
      if (err instanceof ApiError && err.status === 400) return false;
      throw err;
    }
    if (this.left) return true;
    this.forget(this.stored);
    for (const line of page.items) this.line(line, true);
    const at = page.items.findIndex((line) => line.line >= (page.line ?? 0));
    this.more = at >= PAGE / 2;
    this.detached = page.items.length - Math.max(at, 0) >= PAGE / 2;
    this.isThere();
    this.sought = page.line ?? 0;
    return true;
  }

  private isThere(): void {
    this.loaded = true;
    this.fresh = false;
    this.why = "";
  }

  /** Find out whether the newest line tells of a turn that has failed: it may be asked for once more. */
  private async learn(): Promise<void> {
    const last = this.items.at(-1);
    if (last?.role !== "notice" || !last.stored || !last.replyTo || last.failure) return;
    const trace = await get<Trace>(conversation(this.name, `trace?message=${encodeURIComponent(last.id)}`)).catch(() => null);
    const ended = trace?.events.findLast((event) => event.kind === "ended");
    if (ended?.state === "failed" || ended?.state === "interrupted") last.failure = true;
  }

  private page(query: string): Promise<MessagePage> {
    return get<MessagePage>(conversation(this.name, `messages?limit=${PAGE}${query}`));
  }

  async earlier(): Promise<void> {
    const { items } = await this.page(`&before=${this.stored[0]?.order ?? 0}`);
    if (this.left) return;
    for (const line of items) this.line(line);
    this.more = items.length === PAGE;
    if (this.forget(this.stored.slice(MOST_LINES))) this.detached = true;
  }

  /** The next page after what is shown, where newer lines have left the document. */
  async later(): Promise<void> {
    const { items } = await this.page(`&after=${this.stored.at(-1)?.order ?? 0}`);
    if (this.left) return;
    if (items.length < PAGE) this.detached = false;
    for (const line of items) this.line(line, true);
    if (this.forget(this.stored.slice(0, -MOST_LINES))) this.more = true;
  }

  /** Show the newest lines again. */
  async latest(): Promise<void> {
    this.forget(this.stored);
    this.detached = false;
    const { items } = await this.page("");
    if (this.left) return;
    for (const line of items) this.line(line);
    this.more = items.length === PAGE;
  }

  private get stored(): Item[] {
    return this.items.filter((item) => item.stored);
  }

  /** Take lines out of the document; whether there were any. */
  private forget(lines: Item[]): boolean {
    const gone = new Set(lines);
    for (const item of gone) this.byId.delete(item.id);
    if (gone.size) this.items = this.items.filter((item) => !gone.has(item));
    return gone.size > 0;
  }

  /** One stored line; one that is shown already changes nothing. paged: it was asked for. */
  line(line: TranscriptMessage, paged = false): void {
    this.newest = Math.max(this.newest, line.line);
    const to = line.reply_to ?? "";
    if (line.role === "assistant") this.answered.add(to);
    const draft = line.role === "assistant" ? this.drafts.get(to) : undefined;
    if (line.role !== "user") this.over(to, line.role === "assistant" ? draft : undefined);
    if (draft) this.said = "answer_there";
    const failed = line.role === "notice" && to ? this.explained(to) : false;
    const last = this.items.findLast((item) => item.stored);
    const arrived = !paged && line.role !== "user" && !this.byId.has(line.id) && Date.parse(line.at) > this.openedAt;
    if (arrived) this.unseen += 1;
    if (this.detached && !paged && last && line.line > last.order) {
      if (draft) this.remove(draft);
      return;
    }
    const shown = this.byId.get(line.id) ?? (line.role === "user" ? this.adopted(line) : undefined);
    if (shown?.stored) return;
    const item = shown ?? draft ?? new Item(line.role);
    item.id = line.id;
    item.at = line.at;
    item.replyTo = to;
    item.growing = false;
    item.planned = "";
    item.pending = false;
    item.refused = null;
    if (failed) item.failure = true;
    item.state = line.state ?? (!paged && this.waits(line) ? "queued" : null);
    item.tool = line.tool ?? "";
    item.callEnd = line.call_end ?? null;
    item.approval = line.approval ?? null;
    item.speaker = line.speaker ?? "";
    item.fromPage = line.written_on === "page";
    item.origin = line.origin ?? null;
    item.calls = line.steps ?? 0;
    item.turn = line.turn ?? 0;
    item.files = line.files ?? [];
    item.recalled = line.recalled ?? [];
    item.usage = line.usage ?? [];
    if (line.role !== "user") this.answers(to);
    if (item.role !== "user" || !item.outgoing) item.text = line.text;
    this.byId.set(line.id, item);
    this.place(item, line.line);
  }

  /** Whether a message that has just come waits for the answer to another one; commands do not. */
  private waits(line: TranscriptMessage): boolean {
    const isMessage = line.role === "user" && !line.tool && !line.text.startsWith("/");
    return isMessage && this.busy && !this.drafts.has(line.id) && !this.answered.has(line.id);
  }

  /** A message is answered: nothing of it is still to come. */
  private answers(id: string): void {
    const asked = this.byId.get(id);
    if (asked) asked.state = null;
  }

  /** A message on its way: shown at once, replaced by its stored line. */
  sending(outgoing: Outgoing): void {
    const known = this.pending.get(outgoing.key);
    const item = known ?? new Item("user");
    item.text = outgoing.text;
    item.outgoing = outgoing;
    item.pending = true;
    item.refused = null;
    this.pending.set(outgoing.key, item);
    if (!known) this.place(item, LAST + this.pending.size);
  }

  failed(outgoing: Outgoing, err: ApiError): void {
    const item = this.pending.get(outgoing.key);
    if (item) item.refused = err;
  }

  /** The server took it under this id. */
  taken(outgoing: Outgoing, id: string): void {
    const item = this.pending.get(outgoing.key);
    this.pending.delete(outgoing.key);
    if (!item) return;
    const known = this.byId.get(id);
    if (known && known !== item) return this.remove(item);
    item.pending = false;
    item.refused = null;
    this.byId.set(id, item);
  }

  /** The bubble that was shown while this line was being sent, if its stored line comes before the answer to that. */
  private adopted(line: TranscriptMessage): Item | undefined {
    for (const [key, item] of this.pending) {
      if (item.text.trim() !== line.text.trim()) continue;
      this.pending.delete(key);
      return item;
    }
    return undefined;
  }

  /** One live event that has no stored line. */
  hear(name: string, data: LiveData): void {
    const id = data.message_id ?? "";
    const text = data.text ?? "";
    if (name === "failed") return this.turnFailed(id, text, data.state === "cut");
    if (name === "notice" || name === "reply" || name === "accepted") return void this.remark(text);
    if (this.answered.has(id)) return;
    this.answers(id);
    const growing = this.draft(id);
    growing.came = performance.now();
    growing.waits = name === "waiting" ? [String(data.why ?? ""), Number(data.call), Number(data.calls)] : null;
    if (name === "started") {
      growing.text = "";
    } else if (name === "delta") {
      growing.text = data.whole ? text : growing.text + text;
      growing.planned = "";
    } else if (name === "tool_started") this.tool(id, String(data.tool ?? ""), Number(data.step ?? 0));
    else if (name === "tool_ended") this.toolEnded(id, String(data.tool ?? ""), data.ok !== false);
  }

  private tool(id: string, tool: string, number: number): void {
    const item = this.draft(id);
    if (item.text && !item.text.endsWith("\n\n")) item.text += "\n\n";
    item.planned = tool || "…";
    item.step = number;
    const running = item.steps.some((step) => step.tool === tool && !step.took && step.number === number);
    if (number && tool && !running) item.steps.push({ tool, number, began: performance.now(), took: 0, ok: true });
  }

  private toolEnded(id: string, tool: string, ok: boolean): void {
    const item = this.drafts.get(id);
    if (!item) return;
    item.planned = "";
    const step = item.steps.find((one) => one.tool === tool && !one.took);
    if (!step) return;
    step.took = Math.max(1, Math.round(performance.now() - step.began));
    step.ok = ok;
  }

  /** Something to know that has no stored line. */
  private remark(text: string): Item {
    const item = new Item("notice");
    item.text = text;
    this.place(item, this.newest + 0.5);
    return item;
  }

  /** A turn has failed. The stored notice says the same, before or after this: the failure is shown once. */
  private turnFailed(id: string, text: string, cut: boolean): void {
    const stored = this.items.find((item) => item.role === "notice" && item.stored && item.replyTo === id);
    if (stored) stored.failure = true;
    if (cut) return void this.cut.add(id);
    if (id) this.over(id);
    if (!text || this.noticed.has(id) || this.failures.has(id)) return;
    const item = this.remark(text);
    item.failure = true;
    item.replyTo = id;
    this.failures.set(id, item);
  }

  /** The stored notice to a message is there; whether it tells of a failure. */
  private explained(id: string): boolean {
    this.noticed.add(id);
    const shown = this.failures.get(id);
    this.failures.delete(id);
    if (shown) this.remove(shown);
    return Boolean(shown) || this.cut.has(id);
  }

  /** Nothing more of this answer is to come; `kept` becomes its stored line. */
  private over(id: string, kept?: Item): void {
    const item = this.drafts.get(id);
    this.drafts.delete(id);
    if (item && item !== kept) this.remove(item);
    this.busy = this.drafts.size > 0;
  }

  private draft(id: string): Item {
    const known = this.drafts.get(id);
    if (known) return known;
    const item = new Item("assistant");
    item.growing = true;
    item.began = item.came = performance.now();
    item.replyTo = id;
    if (!this.drafts.size) this.said = "answer_began";
    this.drafts.set(id, item);
    this.busy = true;
    if (!this.detached) this.place(item, LAST);
    return item;
  }

  private remove(item: Item): void {
    const at = this.items.indexOf(item);
    if (at >= 0) this.items.splice(at, 1);
  }

  /** The order of the screen: stored lines by number, then the growing answer, then what is being sent. */
  private place(item: Item, order: number): void {
    this.fresh = false;
    item.order = order;
    const from = this.items.indexOf(item);
    const fits =
      from >= 0 &&
      (this.items[from - 1]?.order ?? -1) <= order &&
      (this.items[from + 1]?.order ?? Infinity) >= order;
    if (fits) return;
    if (from >= 0) this.items.splice(from, 1);
    let at = this.items.length;
    while (at > 0 && this.items[at - 1]!.order > order) at -= 1;
    this.items.splice(at, 0, item);
  }
}
