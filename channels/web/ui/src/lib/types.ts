// Types of the API. Generated from its models by scripts/page_types.py: change those, not this.

/** A message that is stored. */
export interface Accepted {
  id: string;
}

/** The account or group that an act on access means. */
export interface AccessAccount {
  channel: string;
  id: string;
}

/** The request to be let in that an act on access means. */
export interface AccessCode {
  code: string;
  channel?: string;
}

/** Who may talk to the bot, and who asks to. */
export interface AccessFacts {
  people?: Person[];
  waiting: AccessRequest[];
  locked_until: string;
}

/** Somebody who asks to be let in. */
export interface AccessRequest {
  channel: string;
  account?: string;
  id: string;
  kind: string;
  name: string;
  at?: string;
  expires: string;
}

/** A role that is given to an account. */
export interface AccessRole {
  channel: string;
  id: string;
  role: string;
  /** Only in this group. */
  group?: string;
}

/** What a turn took of one model. */
export interface AnswerUsage {
  model: string;
  /** Tokens, cached ones included. */
  input: number;
  output: number;
  cached: number;
  /** US dollars; null where the price is not known. */
  cost: number | null;
}

/** A call that waits for the owner's consent. */
export interface Approval {
  id: string;
  tool: string;
  arguments: Record<string, unknown>;
  kind: "command" | "script" | "call";
  /** What runs: the words shell-quoted, the text of the script, or the tool with its short arguments. */
  shown: string;
  /** Of a script. */
  language: string;
  /** The arguments that `shown` does not hold. */
  rest: Record<string, unknown>;
  /** Why it is asked for. */
  why: ShownText;
  /** What the words from outside came with, newest first. */
  sources: string[];
  /** Words in letters of several scripts. */
  mixed: string[];
  /** What the approval depends on apart from the arguments. */
  bound: Record<string, unknown>;
  /** The call may rest on words from outside. */
  tainted: boolean;
  /** SHA-256 of the call and of all that it depends on; to be sent with the decision. */
  digest: string;
  /** It can be allowed for good. */
  lasting: boolean;
  conversation: string;
  channel: string;
  by: string;
  expires: string;
}

/** Calls that need no consent until the rule expires. */
export interface ApprovalRule {
  number: number;
  tool: string;
  text: string;
  at: string;
  expires: string;
  by: string;
  channel: string;
  in_force: boolean;
}

/** What waits for a decision, and the rules. */
export interface Approvals {
  waiting: Approval[];
  rules: ApprovalRule[];
}

/** An approval that a line asks for; /approvals has what waits. */
export interface AskedApproval {
  id: string;
  state: "asked" | "approved" | "running" | "done" | "failed" | "unknown" | "denied" | "ended";
}

/** A file that is sent with a message. */
export interface AttachedFile {
  name?: string;
  /** Such as image/png. */
  media_type?: string;
  /** Base64. */
  data: string;
}

/** What is known of the models in use, and what became of the newest work beside replies. */
export interface Background {
  models: ModelFacts[];
  /** Newest summaries, at most 20. */
  folds: number;
  /** How many of them are extracts: a message waited, what the model wrote could not be used, or it did not answer. */
  digests: Record<string, number>;
  /** Newest turns in which facts were looked for, at most 50. */
  extractions: number;
  /** How many of them failed, by the reason. */
  failed: Record<string, number>;
  /** All of that in sentences. */
  lines: string[];
}

/** A backup in the home's folder `backups`. */
export interface Backup {
  name: string;
  size: number;
  at: string;
  encrypted: boolean;
}

/** The passphrase of an encrypted backup. */
export interface BackupPassphrase {
  passphrase?: string;
}

/** The backups, newest first. */
export interface Backups {
  items: Backup[];
  /** The home's name, which is typed before a restore. */
  home: string;
  free_bytes: number;
  /** This process can restore: it holds the home. */
  can_restore: boolean;
  last_restore: RestoreOutcome | null;
}

/** Where a branch begins, and its name. */
export interface Branch {
  /** Id of the person's message that it leaves out. */
  message: string;
  name: string;
}

/** What a branch was made from: a conversation, before one of its turns. */
export interface BranchOrigin {
  conversation: string;
  title: string;
  turn: number;
}

/** Where the newer request stops repeating the older one, so that the provider's cache ends
there. */
export interface BrokenPrefix {
  kind: "system" | "tools" | "summary" | "history" | "running";
  name: string;
  turn: number | null;
  why: string;
  /** The first one that differs, in the texts of tools, system and messages. */
  byte: number;
  /** The same in both, and read again. */
  tokens: number;
}

/** What one step of the test found: a line of the reply. */
export interface ChannelFinding {
  step: string;
  state: "ok" | "failed" | "skipped";
  text: string;
  /** What to do. */
  hint: string;
}

/** Minutes that a channel spent in one state. */
export interface ChannelSpan {
  /** At the end of each minute; empty where it is not known. */
  state: string;
  minutes: number;
}

/** State of one channel. */
export interface ChannelState {
  up: boolean;
  state: string;
  why: string;
  since: string;
  heard: string;
  last_error: string;
  last_error_at: string;
  quota: string;
  login: boolean;
  prompt?: LoginPrompt | null;
}

/** Settings of a channel that are tried. */
export interface ChannelTest {
  /** Part of config.json below `channels` that is not saved yet. */
  part: Record<string, unknown>;
}

/** A command that may be typed in the page. */
export interface Command {
  name: string;
  usage: string;
  zh: string;
  en: string;
}

/** All of them, in the order of /help. */
export interface CommandList {
  items: Command[];
}

/** What to do to the context of a conversation. */
export interface ContextAct {
  act: "fold" | "undo" | "clear" | "policy";
  /** Its new policy; empty for the configured one. */
  policy?: string;
}

/** What was done: a fold goes on in the background, its steps are events of the stream. */
export interface ContextActDone {
  done: "folding" | "fold_undone" | "clear_undone" | "cleared" | "policy";
  from_turn?: number;
  to_turn?: number;
}

/** What the model would be sent now, in figures. */
export interface ContextFacts {
  epoch: number;
  turns: number;
  max_turns: number;
  live_turns?: number[];
  tokens: number;
  max_tokens: number;
  budget: number;
  parts: ContextParts;
  system_parts?: SystemPart[];
  messages: number;
  roles: Record<string, number>;
  characters: number;
  policy: string;
  policy_own?: boolean;
  folds: Fold[];
  folding?: FoldProgress | null;
  next_fold?: FoldTrigger[];
  counter: TokenCounter;
  cache_share: number;
}

/** Tokens of each part of a request. */
export interface ContextParts {
  system: number;
  tools: number;
  summary: number;
  history: number;
  running: number;
}

/** What the owner chooses for a conversation; what is left out stays. */
export interface ConversationChoice {
  /** Up to 200 characters; empty shows the first words again. */
  title?: string | null;
  pinned?: boolean | null;
  archived?: boolean | null;
}

/** A page of the list, newest first, pinned ones before all others. */
export interface ConversationPage {
  items: ConversationSummary[];
  /** Cursor of the next page; null on the last one. */
  next: string | null;
}

/** Which page of the list is wanted. */
export interface ConversationQuery {
  /** The `next` of the page before. */
  cursor?: string;
  limit?: number;
  /** Only the owner's own private conversations. */
  own?: boolean;
  /** Only those whose title (of other people: whose id) contains it. */
  q?: string;
  /** Only those of this channel. */
  channel?: string;
  /** Only the chat with this id on its channel. */
  person?: string;
  /** Archived ones are left out by default. */
  state?: "" | "archived" | "unread" | "all";
}

/** Where a stream of one conversation begins. */
export interface ConversationStreamQuery {
  /** A line, or the id of an event; Last-Event-ID goes first. */
  after?: string;
}

/** An entry of the list of conversations. */
export interface ConversationSummary {
  /** Its name in addresses. */
  id: string;
  /** Of another person's private chat only their id. */
  title: string;
  channel: string;
  updated_at: string;
  /** Turns in the view. */
  turns: number;
  whose: "own" | "group" | "other";
  /** Of another person's private chat: their name, where it is known. */
  person?: string;
  /** Of a group, or of another person's chat: its id on the channel. */
  chat_id?: string;
  /** Why one cannot write in it on the page; null where one can. */
  no_reply?: Sentence | null;
  pinned: boolean;
  archived: boolean;
  /** Lines that were not read in the page. */
  unread: number;
  /** The title was given by the owner. */
  named: boolean;
  /** It is about to be deleted, and in no list. */
  deleting: boolean;
  /** Sent in quotes as If-Match with each change. */
  etag: string;
}

/** Use in one conversation. */
export interface ConversationUsage {
  /** Its name in addresses. */
  id: string;
  /** Of another person's private chat only their id. */
  title: string;
  channel: string;
  whose: "own" | "group" | "other";
  calls: number;
  /** From no cache. */
  tokens: number;
  cost: number;
  unpriced: string[];
}

/** Turns that were forgotten; each other one is live, folded or cleared, as the figures of the
context tell. */
export interface Coverage {
  forgotten: number[];
}

/** Why a fold ends where it does. */
export interface CutReason {
  score: number;
  candidates: number;
  terms: [string, number][];
}

/** Use on one day. */
export interface DayUsage {
  /** In the owner's time zone, such as 2026-11-20. */
  day: string;
  items: DayUsageItem[];
}

/** Use of one model for one purpose on one day. */
export interface DayUsageItem {
  model: string;
  purpose: string;
  calls: number;
  input: number;
  output: number;
  cache_read?: number;
  cache_write?: number;
  /** US dollars; null where the price is not known. */
  cost: number | null;
  /** By the owner; else by all other people together. */
  own: boolean;
}

/** The days of a month that have a diary. */
export interface Days {
  month: string;
  /** First day that has one; empty for none. */
  first: string;
  last: string;
  items: DiaryDay[];
}

/** Whose days are meant. */
export interface DaysOfChatQuery {
  /** Seconds east of UTC. */
  offset?: number;
}

/** Which month is wanted. */
export interface DaysQuery {
  /** Empty for the owner's. */
  space?: string;
  /** Such as 2026-11; empty for this one. */
  month?: string;
}

/** What the decision led to; the chat that asked sees how a call ended. */
export interface Decided {
  state: "running" | "denied";
}

/** The owner's decision over a call, as it was shown. */
export interface Decision {
  decision: "once" | "deny" | "always";
  digest: string;
}

/** A conversation that is about to be deleted. */
export interface Deletion {
  /** So long it can be restored. */
  seconds: number;
  etag: string;
}

/** The diary of one day. */
export interface Diary {
  day: string;
  /** Its file; empty where it is not the owner's to open. */
  path: string;
  items: DiaryEntry[];
}

/** A day with a diary. */
export interface DiaryDay {
  day: string;
  /** Turns that were folded into it. */
  turns: number;
  entries: number;
}

/** What stands together in the diary: a fold of turns, or lines that somebody wrote. */
export interface DiaryEntry {
  time: string;
  channel: string;
  /** 0 where no fold is meant. */
  from_turn: number;
  to_turn: number;
  state: "" | "stale" | "undone";
  /** The one that was folded; empty if it is gone. */
  conversation: string;
  title: string;
  line: number;
  lines: DiaryLine[];
  /** Lines that are left out here. */
  more: number;
}

/** A line of the diary. */
export interface DiaryLine {
  time: string;
  speaker: string;
  text: string;
}

/** A part of one or both of two requests. */
export interface DiffItem {
  kind: "system" | "tools" | "summary" | "history" | "running";
  name: string;
  turn: number | null;
  state: "kept" | "added" | "left_out" | "changed";
  tokens_before: number;
  tokens_after: number;
}

/** An act that was carried out. */
export interface Done {
  ok: boolean;
}

/** A line that no longer held. */
export interface DroppedLine {
  text: string;
  /** What stands for it. */
  by: string;
  since: string;
}

/** Why a server could not be asked. */
export interface EndpointFault {
  code: "nothing_listens" | "no_host" | "timeout" | "tls" | "path" | "key" | "failed";
  message: string;
  /** What it said itself, without secrets. */
  server_words: string;
}

/** What was wrong. */
export interface ErrorDetail {
  code: string;
  /** In the language of Accept-Language: Chinese or English. */
  message: string;
  /** Which value of the request is wrong. */
  field?: string | null;
  /** What to do next. */
  hint?: string | null;
}

/** Body of every refusal. */
export interface ErrorReply {
  error: ErrorDetail;
}

/** A fact of the long-term memory. */
export interface Fact {
  id: string;
  /** Empty once it is forgotten. */
  text: string;
  category: string;
  importance: number;
  state: "live" | "superseded" | "gone" | "forgotten";
  origin: "extraction" | "person" | "tool" | "dream" | "file";
  created_at: string;
  /** When a search last gave it; null for never. */
  used_at: string | null;
  uses: number;
  /** When it was superseded or removed. */
  until?: string | null;
  /** The words that it rests on. */
  quote?: string;
  said_at?: string | null;
  channel?: string;
  etag: string;
}

/** How a fact should be; null leaves a value. */
export interface FactChange {
  text?: string | null;
  category?: "user_preference" | "instruction" | "project_context" | "skill" | "fact" | null;
  importance?: number | null;
}

/** A fact with all that is known of it. */
export interface FactFacts {
  id: string;
  /** Empty once it is forgotten. */
  text: string;
  category: string;
  importance: number;
  state: "live" | "superseded" | "gone" | "forgotten";
  origin: "extraction" | "person" | "tool" | "dream" | "file";
  created_at: string;
  /** When a search last gave it; null for never. */
  used_at: string | null;
  uses: number;
  /** When it was superseded or removed. */
  until?: string | null;
  /** The words that it rests on. */
  quote?: string;
  said_at?: string | null;
  channel?: string;
  etag: string;
  /** Where it was said. */
  conversation?: string;
  title?: string;
  turn?: number;
  /** What it superseded, newest first. */
  formers: Fact[];
  /** What superseded it. */
  successor: Fact | null;
  /** Why it cannot be put back. */
  obstacle: "forgotten" | "live" | "changed" | null;
}

/** A page of facts, newest first. */
export interface FactPage {
  items: Fact[];
  /** Cursor of the next page; null on the last one. */
  next: string | null;
}

/** Which facts are wanted. */
export interface FactQuery {
  /** Empty for the owner's. */
  space?: string;
  /** Words that the fact contains. */
  q?: string;
  category?: "" | "user_preference" | "instruction" | "project_context" | "skill" | "fact";
  /** The least one. */
  importance?: number;
  /** Those that no longer hold, instead of those that do. */
  former?: boolean;
  /** The `next` of the page before. */
  cursor?: string;
  limit?: number;
}

/** Where a file is; it is given to those who may read that conversation. */
export interface FileQuery {
  conversation: string;
  /** Id of the message that it came or went with, or of the answer of its turn. */
  message: string;
}

/** A fold of older turns. */
export interface Fold {
  id: string;
  from_turn: number;
  to_turn: number;
  at: string;
  method: string;
  file: string;
  tokens_before: number;
  tokens_after: number;
  state?: string;
  reason?: string;
  why?: CutReason | null;
}

/** State of a fold that is going on: an event of the stream. */
export interface FoldProgress {
  state: string;
  from_turn: number;
  to_turn: number;
  tokens_before: number;
  tokens_after: number;
}

/** What brings about the next fold. */
export interface FoldTrigger {
  unit: "tokens" | "turns" | "messages" | "new_tokens" | "new_messages";
  now: number;
  at: number;
}

/** Which of the places go. */
export interface ForgetChoice {
  /** Their positions; null for all, and all that say the same. */
  chosen?: number[] | null;
}

/** A place that says what is to be forgotten. */
export interface ForgetPlace {
  kind: "memory" | "log" | "version" | "said";
  /** The sentences that go. */
  text: string;
  path?: string;
  line?: number;
  date?: string;
  channel?: string;
  /** A person wrote it, not the bot. */
  mine?: boolean;
}

/** What forgetting a fact takes away; nothing is changed yet. */
export interface ForgetPreview {
  /** Confirms it, within ten minutes. */
  code: string;
  items: ForgetPlace[];
}

/** Where the forgotten words were, how often, and where they may remain; without the words. */
export interface ForgetReceipt {
  files: ForgottenLines[];
  said: ForgottenMessages[];
  summaries: number;
  records: number;
  /** Past requests that showed it. */
  views: number;
  /** Former versions of files that mentioned it. */
  versions: number;
  attachments: number;
  index: boolean;
  /** Copies that may still hold it. */
  backups: string[];
  /** Files of the workspace that still mention it. */
  kept: string[];
}

/** Lines of one file. */
export interface ForgottenLines {
  path: string;
  lines: number[];
}

/** Messages of one day and channel. */
export interface ForgottenMessages {
  date: string;
  channel: string;
  count: number;
}

/** A server that answered on this machine. */
export interface FoundServer {
  preset: string;
  base_url: string;
}

/** A line that recurred in the diary. */
export interface GatheredLine {
  text: string;
  category: string;
  sources: GatheredSource[];
}

/** A line of the diary. */
export interface GatheredSource {
  text: string;
  day: string;
  line: number;
}

/** Which search index is rebuilt. */
export interface Index {
  /** Whose memory; null for all. */
  space?: string | null;
}

/** Work that outlives the request that started it. */
export interface Job {
  id: string;
  kind: string;
  subject: string;
  state: "running" | "done" | "failed" | "cancelled";
  done: number;
  /** 0 where that is not known. */
  expected: number;
  error: string;
  result: Record<string, unknown>;
  started: string;
  ended: string | null;
}

/** Newest first. */
export interface JobList {
  items: Job[];
}

/** What a person has used today of one limit. */
export interface LimitUse {
  limit: "messages_per_minute" | "messages_per_day" | "tokens_per_day" | "money_per_day";
  used: number;
  /** 0: no limit. */
  most: number;
  /** This person's own limit; null: as everybody. */
  own: number | null;
}

/** A file that came or went with a line. */
export interface LineFile {
  /** Its name below /blobs; empty where it is still at the platform. */
  id: string;
  name: string;
  media_type: string;
  size: number;
  /** A small picture of it can be had. */
  picture: boolean;
}

/** A model that a server has. */
export interface ListedModel {
  id: string;
  /** In tokens; left out if the server does not name it. */
  context_window?: number;
}

/** The models of a server in its order; none with an error. */
export interface ListedModels {
  items: ListedModel[];
  error?: EndpointFault | null;
}

/** A line of the log, without any text that a person wrote. */
export interface LogLine {
  /** Where it is; no other line has the same. */
  at: string;
  timestamp: string;
  level: string;
  logger: string;
  event: string;
  trace: string;
  exception: string;
  facts: Record<string, unknown>;
}

/** Newest first. A page may be short where few lines are wanted. */
export interface LogPage {
  items: LogLine[];
  next: string | null;
}

/** Which lines of the log are wanted. */
export interface LogQuery {
  /** This one and worse. */
  level?: "" | "debug" | "info" | "warning" | "error" | "critical";
  /** This one and those below it. */
  logger?: string;
  trace?: string;
  limit?: number;
  /** The `next` of the page before. */
  cursor?: string;
}

/** A login of a browser. */
export interface Login {
  id: string;
  /** Browser and system; empty if they are not known. */
  browser: string;
  /** Empty for a login of an older version. */
  began: string;
  /** Its last request. */
  seen: string;
  /** Name of the passkey it was made with; empty for another way. */
  passkey: string;
  /** It is the one that asks. */
  current: boolean;
}

/** A code for a link that signs one browser in, once and within ten minutes. */
export interface LoginCode {
  code: string;
}

/** All of them, the last used one first. */
export interface LoginList {
  items: Login[];
}

/** What a channel wants of its owner to log in. */
export interface LoginPrompt {
  kind: "qr" | "digits" | "wait";
  id: string;
  zh: string;
  en: string;
  /** When a QR code is replaced by a new one; empty if that is not known. */
  expires?: string;
}

/** What the model may do with a tool as it was shown. */
export interface McpChoice {
  name: string;
  sha256: string;
  mode: "off" | "run" | "ask";
  effect: "pure" | "unsafe";
}

/** All of them, by name. */
export interface McpList {
  items: McpServer[];
}

/** A review. */
export interface McpReview {
  /** Of the server that was shown. */
  source: string;
  choices: McpChoice[];
}

/** A configured server of tools. */
export interface McpServer {
  name: string;
  state: string;
  why: string;
  /** The program is the one whose tools were reviewed. */
  reviewed: boolean;
  /** Hash of its command or address. */
  source: string;
  command: string[];
  url: string;
  network: boolean;
  spaces: string[];
  tools: McpTool[];
}

/** A tool of a server, as the model would read it. */
export interface McpTool {
  name: string;
  description: string;
  schema: Record<string, unknown>;
  /** It says that it only reads. */
  read_only: boolean;
  sha256: string;
  state: "new" | "changed" | "settled";
  mode: "off" | "run" | "ask";
  effect: "pure" | "unsafe";
}

/** A Markdown file of the workspace. */
export interface MemoryFile {
  path: string;
  size: number;
  updated_at: string;
}

/** All of them, by path. */
export interface MemoryFileList {
  items: MemoryFile[];
}

/** A file with its text; the ETag names this version. */
export interface MemoryFileText {
  path: string;
  size: number;
  updated_at: string;
  text: string;
}

/** Whose memory there is. */
export interface MemorySpace {
  /** Empty for the owner's. */
  space: string;
  whose: "own" | "person" | "group";
  name: string;
  /** CHANNEL:ID of those who write there. */
  accounts?: string[];
}

/** The owner's, then the others by name. */
export interface MemorySpaceList {
  items: MemorySpace[];
}

/** Lines that said the same, and what stands for them. */
export interface MergedLines {
  parts: string[];
  text: string;
}

/** A page of a transcript, oldest first; of a search newest first. */
export interface MessagePage {
  items: TranscriptMessage[];
  /** The line that `around` names. */
  line?: number | null;
}

/** Which page of a transcript is wanted; without any of these the newest one. */
export interface MessageQuery {
  /** Id or line of a message. */
  before?: string;
  /** Line of a message. */
  after?: number | null;
  /** Id or line of a message, or turn-N: the lines on both sides of it. */
  around?: string;
  /** Only messages that hold these words, newest first. */
  q?: string;
  limit?: number;
}

/** Which message's trace is wanted. */
export interface MessageTraceQuery {
  /** Its id; empty for the newest one that had a turn. */
  message?: string;
}

/** A file or folder that its owner calls their own. */
export interface Mine {
  /** In the owner's workspace. */
  path: string;
}

/** The result of one check. */
export interface ModelCheck {
  id: "address" | "key" | "answer" | "streaming" | "tools" | "sight" | "thinking" | "window";
  state: "ok" | "failed" | "unknown" | "no";
  text: string;
}

/** A model to use; with `fallback` alone, only the chain behind the model in use changes. */
export interface ModelChoice {
  /** Left out with `model`. */
  preset?: string;
  /** Empty for the preset's. */
  base_url?: string;
  /** Empty for the saved one, if the server is the saved one. */
  api_key?: string;
  /** Left out to change the chain alone. */
  model?: string | null;
  /** For summaries. */
  fast_model?: string | null;
  /** As `llm.fallback`; an item without a key, or with masked values, gets those that are saved for its server. */
  fallback?: Record<string, unknown>[] | null;
}

/** A server, and the key for it. */
export interface ModelEndpoint {
  preset: string;
  /** Empty for the preset's. */
  base_url?: string;
  /** Empty for the saved one, if the server is the saved one. */
  api_key?: string;
}

/** What is known of one model. */
export interface ModelFacts {
  name: string;
  /** Tokens that it can read. */
  window: number;
  /** Where that is known from: the settings, the server, what it refused or cut, a table, or nowhere. */
  window_source: "config" | "server" | "refusal" | "cut" | "table" | "default";
  /** Whether its server takes tools. */
  tools: boolean;
  /** How its thinking came last. */
  thinking: "" | "field" | "tags";
  /** Requests that its server answers at once, as it says; 0 if it does not. */
  slots: number;
  /** Its newest error, in the server's words. */
  error: string;
  /** How long ago that was. */
  error_seconds: number;
}

/** The results of the test of a model, up to the first failure. */
export interface ModelReport {
  checks: ModelCheck[];
  /** In tokens. */
  window?: number | null;
  window_source: "" | "config" | "server" | "refusal" | "cut" | "table" | "default";
  /** Address, key and answer are right. */
  ok: boolean;
  /** What the server said of a refusal, without secrets. */
  server_words: string;
}

/** State of one model. */
export interface ModelState {
  name: string;
  use: string;
  up: boolean;
  state: "up" | "untried" | "resting" | "refused";
  seconds: number;
  /** Seconds for which other models are asked first. */
  asked_again_in: number;
  why: string;
}

/** Each model of the chain, then the fast one if it differs. */
export interface ModelStates {
  models: ModelState[];
}

/** What a search gives the model. */
export interface ModelText {
  text: string;
}

/** A model to test. */
export interface ModelTrial {
  preset: string;
  /** Empty for the preset's. */
  base_url?: string;
  /** Empty for the saved one, if the server is the saved one. */
  api_key?: string;
  model: string;
}

/** Use of one model for one purpose. */
export interface ModelUsage {
  model: string;
  purpose: string;
  calls: number;
  input: number;
  output: number;
  cache_read?: number;
  cache_write?: number;
  /** US dollars; null where the price is not known. */
  cost: number | null;
}

/** Use by one person. */
export interface NamedPersonUsage {
  who: string;
  calls?: number;
  tokens: number;
  cost: number | null;
  unpriced: string[];
  /** As the platform gave it; empty where it is not known. */
  name: string;
}

/** How to make a backup. */
export interface NewBackup {
  /** Encrypts it; it then holds the secrets too. */
  passphrase?: string;
}

/** A message to the bot; its conversation is created by the first one. */
export interface NewMessage {
  conversation: string;
  text?: string;
  /** The client's own id, up to 200 characters: a repeat with the same key is one message. */
  key?: string | null;
  attachments?: AttachedFile[] | null;
}

/** The passkey that the browser has made. */
export interface NewPasskey {
  name: string;
  credential: Record<string, unknown>;
}

/** Where a browser is notified, as its PushSubscription has it. */
export interface NewPush {
  /** https address. */
  endpoint: string;
  /** Base64url. */
  p256dh: string;
  /** Base64url. */
  auth: string;
  language?: "zh" | "en";
}

/** A file's new text. */
export interface NewText {
  text: string;
}

/** A file that is uploaded in pieces. */
export interface NewUpload {
  name: string;
  /** Bytes. */
  size: number;
}

/** What one night changed. */
export interface Night {
  id: string;
  day: string;
  at: string;
  state: "planned" | "written" | "done" | "refused" | "undone";
  /** Why nothing was changed. */
  reason: string;
  diary: string;
  merged: MergedLines[];
  dropped: DroppedLine[];
  gathered: GatheredLine[];
  /** Part of what it changed was forgotten since, and is not shown. */
  forgotten: boolean;
}

/** A page of nights, newest first. */
export interface NightPage {
  items: Night[];
  /** Cursor of the next page; null on the last one. */
  next: string | null;
}

/** What taking a night back did. */
export interface NightUndone {
  /** The file is byte for byte as it was before; else later changes stay. */
  whole: boolean;
  back: string[];
  gone: string[];
}

/** Which nights are wanted. */
export interface NightsQuery {
  /** Empty for the owner's. */
  space?: string;
  /** The `next` of the page before. */
  cursor?: string;
  limit?: number;
}

/** Something from outside in a request. */
export interface OutsideSource {
  /** The turn that it came in; 0 for the summary. */
  turn: number;
  name: string;
}

/** A passkey of the owner. */
export interface Passkey {
  id: string;
  name: string;
  /** The host it is valid at. */
  site: string;
  added: string;
  /** The last login with it; empty before the first one. */
  used: string;
}

/** All of them. */
export interface PasskeyList {
  items: Passkey[];
  /** The host of this address; empty where passkeys cannot be used. */
  site: string;
}

/** What the browser makes a passkey from. */
export interface PasskeyOptions {
  options: Record<string, unknown>;
}

/** A part of a past request. */
export interface PastSegment {
  kind: "system" | "tools" | "summary" | "history" | "running";
  name: string;
  tokens: number;
  pieces: ViewPiece[];
  /** Its text is longer than what is shown. */
  cut: boolean;
  turn?: number | null;
  tainted?: boolean;
  /** Of a turn: what from outside was in view, newest first. */
  sources?: OutsideSource[];
}

/** A call of the model: what its request showed, in figures. */
export interface PastView {
  /** Of the call in its conversation. */
  number: number;
  turn: number;
  at: string;
  model: string;
  /** The model that answered; empty if none did. */
  answered: string;
  policy: string;
  budget: number;
  /** By our count. */
  tokens: number;
  parts: ContextParts;
  /** Tokens as the provider counted them; 0 without an answer. */
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
  ms: number;
  /** Something that it showed was forgotten since. */
  forgotten: boolean;
  tainted: boolean;
  /** Why it did not repeat the prefix of the call before; empty if it did. */
  broke?: string;
}

/** A page of the calls, newest first. */
export interface PastViewPage {
  items: PastView[];
  /** Cursor of the next page; null on the last one. */
  next: string | null;
}

/** Which page is wanted. */
export interface PastViewQuery {
  /** The `next` of the page before. */
  cursor?: string;
  limit?: number;
}

/** A past request with its texts. */
export interface PastViewText {
  /** Of the call in its conversation. */
  number: number;
  turn: number;
  at: string;
  model: string;
  /** The model that answered; empty if none did. */
  answered: string;
  policy: string;
  budget: number;
  /** By our count. */
  tokens: number;
  parts: ContextParts;
  /** Tokens as the provider counted them; 0 without an answer. */
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
  ms: number;
  /** Something that it showed was forgotten since. */
  forgotten: boolean;
  tainted: boolean;
  /** Why it did not repeat the prefix of the call before; empty if it did. */
  broke?: string;
  /** It is what was sent, byte for byte; not after something was forgotten. */
  exact: boolean;
  items: PastSegment[];
}

/** Somebody who may talk to the bot. */
export interface Person {
  channel: string;
  account: string;
  id: string;
  kind: string;
  role: string;
  group: string;
  name: string;
  by: string;
  at: string;
}

/** The confirmation of a deletion. */
export interface PersonDeletion {
  /** CHANNEL:ID as in the path. */
  name: string;
}

/** What the deletion of a person would delete, and what would stay. */
export interface PersonDeletionPreview {
  /** CHANNEL:ID of this person's linked accounts, which all go. */
  accounts: string[];
  conversations: number;
  messages: number;
  /** Of their memory. */
  files: number;
  memories: number;
  jobs: number;
  /** That they wrote in groups; these stay. */
  group_messages: number;
  /** Rows of the audit list that name them; these stay. */
  acts: number;
  /** Older copies of the database in the home, which stay. */
  backups: string[];
  /** Keys of config.json that name an account and let it in again. */
  listed: string[];
}

/** What was deleted, and what stays. */
export interface PersonDeletionReceipt {
  conversations: number;
  /** Of other tables. */
  rows: number;
  files: number;
  attachments: number;
  group_messages: number;
  acts: number;
  backups: string[];
  /** The database's log has no deleted bytes any more. */
  is_compacted: boolean;
  listed: string[];
}

/** What is known of a person, without what they wrote. */
export interface PersonFacts {
  channel: string;
  id: string;
  /** What they call themselves. */
  name: string;
  role: string;
  grants: Person[];
  /** CHANNEL:ID of this person's linked accounts. */
  accounts: string[];
  last_seen: string;
  conversations: number;
  messages: number;
  today: LimitUse[];
}

/** Use by one person. */
export interface PersonUsage {
  who: string;
  calls?: number;
  tokens: number;
  cost: number | null;
  unpriced: string[];
}

/** A kind of server of models. */
export interface Preset {
  id: string;
  title: PresetTitle;
  provider: "anthropic" | "openai";
  /** Empty for the provider's own, and for `own`, where a person names it. */
  base_url: string;
  /** The same vendor in another region, with keys of its own. */
  other_base_url: string;
  needs_key: boolean;
  /** Where a key is made; empty for a server without. */
  key_page: string;
  /** It runs on this machine. */
  local: boolean;
}

/** What a preset is called. */
export interface PresetTitle {
  zh: string;
  en: string;
}

/** All presets, and the servers that were found. */
export interface Presets {
  items: Preset[];
  found: FoundServer[];
}

/** Whether to look for servers on this machine. */
export interface PresetsQuery {
  local?: boolean;
}

/** A stored subscription. */
export interface Push {
  id: string;
}

/** Whether a browser can be notified of new messages. */
export interface PushOffer {
  /** `channels.web.push` is on, and the page has an https address. */
  on: boolean;
  /** The key to subscribe with, base64url; empty where it is off. */
  key: string;
  /** The subscription that was asked about is stored. */
  known: boolean;
}

/** Which subscription is asked about. */
export interface PushQuery {
  /** Of a subscription of this browser. */
  id?: string;
}

/** Where a passage is that an answer was given of memory. */
export interface Recalled {
  /** The file; empty for something that was said. */
  path: string;
  line: number;
  last: number;
  /** The conversation in which it was said. */
  conversation: string;
  title: string;
  turn: number;
}

/** One value for each of the last 1,440 minutes, oldest first; null where there is none. */
export interface RecentMetrics {
  /** When the last minute ended, unix seconds; 0 before the first one. */
  newest: number;
  /** Messages that are not answered yet. */
  queue: (number | null)[];
  /** Parts of replies that are not sent yet. */
  unsent: (number | null)[];
  /** Answers. */
  turns: (number | null)[];
  /** Their mean duration. */
  turn_seconds: (number | null)[];
  model_errors: (number | null)[];
  send_errors: (number | null)[];
  /** Answers that failed by a fault of this machine. */
  faults: (number | null)[];
  /** Of the event loop, seconds. */
  lag: (number | null)[];
  /** Spans of each channel, oldest first; 1,440 minutes. */
  channels: Record<string, ChannelSpan[]>;
}

/** What to replay a conversation with. */
export interface Replay {
  /** Empty for all. */
  policies?: string[];
  /** Tokens of a request; 0 for the configured number. */
  budget?: number;
  /** 0 for the configured number. */
  turns?: number;
}

/** A fold that a policy would have made. */
export interface ReplayFold {
  /** Before which request, from 0. */
  request: number;
  from_turn: number;
  to_turn: number;
  reason: string;
  tokens_before: number;
  tokens_after: number;
}

/** What a policy would have shown and cost: the figures of `mnema replay --json`. */
export interface ReplayPolicy {
  name: string;
  requests: number;
  tokens_mean: number;
  tokens_max: number;
  folds: number;
  folds_at_once: number;
  reductions: number;
  prefix_breaks: number;
  cached_percent: number;
  cost: number | null;
  fold_cost: number | null;
  visible_percent: number | null;
  retrievable_percent: number | null;
  either_percent: number | null;
  over_budget: number;
  /** Of each request. */
  tokens: number[];
  /** Requests that broke the prefix, from 0. */
  broke: number[];
  fold_list: ReplayFold[];
}

/** The result of such a job. */
export interface ReplayResult {
  conversation: string;
  budget: number;
  turns: number;
  policies: ReplayPolicy[];
}

/** The consent to replace all that the home holds. */
export interface Restore {
  passphrase?: string;
  /** The home's name, as a person typed it. */
  home: string;
}

/** What came of the last restore in the page. */
export interface RestoreOutcome {
  file: string;
  at: string;
  ok: boolean;
  error: string;
  /** Where the former state is. */
  kept?: string[];
  /** Secrets that have to be set again. */
  missing?: string[];
  /** Rights that were revoked since and are not given back. */
  withheld?: string[];
  unreadable?: boolean;
  forgotten?: number;
}

/** Which rule is meant. */
export interface RuleNumber {
  number: number;
}

/** What a score is made of; together it. */
export interface ScoreSplit {
  words: number;
  dates: number;
  vector: number;
  /** Lent by what stands beside it, and by its day. */
  nearby: number;
}

/** What was found: lines of a file, or a turn of a conversation. */
export interface SearchHit {
  text: string;
  kind: string;
  score: number;
  source: string;
  split?: ScoreSplit | null;
  /** Where words of the question are, as [from, to]. */
  marks?: [number, number][];
  path?: string | null;
  line?: number | null;
  turn?: number | null;
  conversation?: string | null;
  /** Title of the conversation. */
  title?: string | null;
  speaker?: string | null;
  /** Whose memory; empty for the owner's. */
  space?: string | null;
  date?: string | null;
  /** It may hold words from outside; the text begins with a mark then. */
  outside?: boolean;
  /** Day since which a line of memory holds. */
  since?: string;
  /** The line that it replaced. */
  former?: string;
  /** The fact that replaced what is said. */
  later?: string;
  /** Day since which that one holds. */
  later_on?: string;
}

/** Best first. */
export interface SearchHits {
  items: SearchHit[];
  /** Memories that were not searched, for there are too many. */
  left_out?: number;
}

/** A search of the memory. */
export interface SearchQuery {
  q: string;
  limit?: number;
  space?: string;
  /** A day such as 2026-11-20. */
  since?: string;
  /** A day such as 2026-11-20. */
  until?: string;
  /** A day such as 2026-11-20: from what was known at its end. */
  as_of?: string;
  speaker?: string;
  kind?: "" | "memory" | "log" | "said" | "tool";
  /** In every memory; those of others are noted in the audit list. */
  everyone?: boolean;
}

/** How far a conversation was read. */
export interface Seen {
  line: number;
}

/** A sentence in both languages. */
export interface Sentence {
  zh: string;
  en: string;
}

/** The login of this browser. */
export interface Session {
  /** Sent as X-CSRF-Token with every change; empty for a bearer token. */
  csrf: string;
  /** The server's time. */
  now: string;
}

/** What a version changed in the one before it; a secret is masked. */
export interface SettingsChange {
  key: string;
  before: string;
  after: string;
}

/** A change to check: a part of config.json, or the whole text. */
export interface SettingsCheck {
  part?: Record<string, unknown> | null;
  text?: string | null;
}

/** What is wrong with it. */
export interface SettingsChecked {
  items: SettingsProblem[];
}

/** One key of config.json. */
export interface SettingsKey {
  /** Dotted. */
  key: string;
  /** What it is shown with. */
  group: string;
  /** Of a number. */
  unit?: string;
  /** From when on a change of it is in force. */
  takes_effect: "now" | "turn" | "restart";
  /** It is only written in the file itself. */
  file_only?: boolean;
  title_zh: string;
  title_en: string;
  about_zh: string;
  about_en: string;
  /** What values it takes; `section` has none of its own. */
  form: string;
  example?: string;
  choices?: string[];
  least?: number | null;
  most?: number | null;
  default?: unknown;
  secret?: boolean;
}

/** Every key that is no item of a list, in the order of config.json. */
export interface SettingsKeys {
  items: SettingsKey[];
}

/** Where the value of a key comes from. */
export interface SettingsOrigin {
  key: string;
  source: "default" | "file" | "variable";
  /** Of the environment. */
  variables?: string[];
  /** Those of them that are not set. */
  unset?: string[];
}

/** What is wrong with the settings. */
export interface SettingsProblem {
  /** Dotted; "" for the file as a whole. */
  key: string;
  message: string;
  /** In the file, from 1; 0 where no place is known. */
  line: number;
  column: number;
}

/** The text of config.json, with masked secrets. */
export interface SettingsSource {
  text: string;
}

/** The file as it is now. */
export interface SettingsState {
  /** The ETag of the settings. */
  tag: string;
  trouble?: SettingsProblem | null;
  /** Of every key that does not have its default. */
  items: SettingsOrigin[];
}

/** A text of config.json that was in force. */
export interface SettingsVersion {
  id: string;
  at: string;
  /** What it changed is not known: it is the oldest one. */
  first: boolean;
  changes: SettingsChange[];
}

/** Newest first; the first one is in force. */
export interface SettingsVersions {
  items: SettingsVersion[];
}

/** What an act did, in words. */
export interface ShownText {
  zh: string;
  en: string;
}

/** A skill of the owner's workspace. */
export interface Skill {
  name: string;
  description: string;
  state: "off" | "on" | "changed" | "invalid";
  /** It is on in every chat, not only the owner's. */
  everyone: boolean;
  problem: string;
  /** Of all its files. */
  sha256: string;
}

/** All of them, by name. */
export interface SkillList {
  items: Skill[];
}

/** A skill with all that a person has to see before they enable it. */
export interface SkillReview {
  name: string;
  description: string;
  state: "off" | "on" | "changed" | "invalid";
  /** It is on in every chat, not only the owner's. */
  everyone: boolean;
  problem: string;
  /** Of all its files. */
  sha256: string;
  review: string[];
  /** Its instructions. */
  body: string;
  files: string[];
}

/** A skill is enabled as it was shown, or turned off. */
export interface SkillSwitch {
  on: boolean;
  /** Of what was shown. */
  sha256?: string;
  everyone?: boolean;
}

/** Whose memory is meant; reading another's is written to the audit list. */
export interface SpaceQuery {
  /** Empty for the owner's. */
  space?: string;
}

/** State of the running bot. */
export interface Status {
  started: string;
  uptime_seconds: number;
  provider: string;
  model: string;
  fast_model: string;
  trouble: string;
  models: ModelState[];
  /** Messages that wait for their turn. */
  waiting: number;
  /** Parts of replies that are not sent yet. */
  unsent: number;
  database: string;
  channels: Record<string, ChannelState>;
  troubles: Record<string, string>;
}

/** What one tab follows. */
export interface StreamQuery {
  /** `conversations`, `c:ID`, `jobs`, `logs`; separated by commas. */
  topics?: string;
  /** The same as `c:ID`. */
  conversation?: string;
  /** Where `c:ID` begins: a line, or the id of an event; Last-Event-ID goes first. */
  after?: string;
}

/** A plug-in or a skill. */
export interface Switch {
  name: string;
  on: boolean;
  problem: string;
}

/** A part of the system prompt. */
export interface SystemPart {
  name: string;
  tokens: number;
  left_out: string[];
}

/** What became of it. */
export interface TakenOver {
  /** How many marks of outside origin there were. */
  removed: number;
}

/** What to do with a task. */
export interface TaskAct {
  action: "pause" | "resume" | "cancel" | "run";
}

/** A reminder, or something that the model does when it is due. */
export interface Task {
  id: string;
  kind: string;
  text: string;
  state: string;
  reason: string;
  next_at: string | null;
  zone: string;
  conversation: string;
  made_at: string;
  every_minutes?: number | null;
  cron?: string | null;
  runs_left?: number | null;
}

/** The open ones, by number. */
export interface TaskList {
  items: Task[];
}

/** Which tasks are wanted. */
export interface TaskQuery {
  /** Ended ones too. */
  all?: boolean;
}

/** How tokens are counted. */
export interface TokenCounter {
  name: string;
  factor: number;
  last_error_percent: number;
}

/** A tool of the owner's chats. */
export interface Tool {
  name: string;
  /** Where it comes from: built in, a plug-in, a package or a server. */
  origin: string;
  effect: string;
  /** Each call waits for the owner's consent. */
  asks: boolean;
  /** As the model is told. */
  description: string;
  /** What it does, in the language that was asked for. */
  about: string;
  /** It is described in each request; else the model has to look for it. */
  in_prompt: boolean;
}

/** A server of tools (MCP). */
export interface ToolServer {
  name: string;
  state: string;
  why: string;
  reviewed: boolean;
  offered: number;
  changed: number;
  listed: number;
}

/** A tool call of a turn. */
export interface ToolStep {
  tool: string;
  state: string;
  ms: number;
  arguments: string;
  result: string;
  /** Of the whole result; up to 1,000 of them are in `result`. */
  characters: number;
  /** It holds words from outside. */
  tainted: boolean;
  images: LineFile[];
}

/** The tool calls of a turn, in order. */
export interface ToolSteps {
  items: ToolStep[];
}

/** What the model may use in the owner's chats. */
export interface Tools {
  tools: Tool[];
  off: string[];
  plugins: Switch[];
  /** Secrets that tools of plug-ins need and were not given. */
  missing: Record<string, string[]>;
  servers: ToolServer[];
  skills: Switch[];
}

/** What became of one message, step by step and in words. */
export interface Trace {
  events: TraceEvent[];
  zh: string[];
  en: string[];
}

/** One step of the processing of a message. */
export interface TraceEvent {
  kind: string;
  at?: string | null;
  name?: string;
  state?: string;
  seconds?: number;
  why?: string;
}

/** Newest first. A page may be short where few turns are wanted. */
export interface TraceList {
  items: TraceSummary[];
  next: string | null;
}

/** Which turns are wanted. */
export interface TraceQuery {
  conversation?: string;
  state?: "" | "running" | "waiting" | "done" | "cancelled" | "failed" | "interrupted";
  /** At least so many seconds. */
  slow?: number;
  limit?: number;
  /** The `next` of the page before. */
  cursor?: string;
}

/** A turn in the list of traces. */
export interface TraceSummary {
  id: string;
  conversation: string;
  /** Of another person's private chat only their id. */
  title: string;
  channel: string;
  whose: "own" | "group" | "other";
  state: string;
  at: string;
  /** 0 while it runs. */
  seconds: number;
  attempts: number;
}

/** A day on which something was said. */
export interface TranscriptDay {
  /** When its first line came. */
  at: string;
  line: number;
}

/** The days of a conversation, oldest first. */
export interface TranscriptDays {
  items: TranscriptDay[];
}

/** A line of a transcript. */
export interface TranscriptMessage {
  id: string;
  role: "user" | "assistant" | "notice";
  text: string;
  at: string;
  /** Place in the transcript, from 1. */
  line: number;
  /** Id of the message that it answers. */
  reply_to?: string | null;
  /** Of a notice that is the outcome of a call: the tool. */
  tool?: string | null;
  /** How that call ended, where a person decided over it. */
  call_end?: "done" | "failed" | "unknown" | "denied" | null;
  /** In a group: who wrote it, by the platform's name. */
  speaker?: string | null;
  /** In a chat of another channel: the person typed it on the page. */
  written_on?: string | null;
  /** Of the notice that begins a branch: what it was branched from. */
  origin?: BranchOrigin | null;
  /** Of a notice that asks for an approval. */
  approval?: AskedApproval | null;
  /** Of a message what is still to come, of a reply how its sending stands; `stopped` or `cut`: the text is what was shown of an answer that was not finished. */
  state?: "queued" | "at_work" | "given_up" | "sending" | "unsent" | "unknown" | "stopped" | "cut" | null;
  files?: LineFile[] | null;
  /** Number of the turn that an answer ended. */
  turn?: number | null;
  /** Tool calls of that turn. */
  steps?: number | null;
  recalled?: Recalled[] | null;
  usage?: AnswerUsage[] | null;
  /** Of a search: where the words are, as [from, to]. */
  marks?: [number, number][] | null;
}

/** Digits that a telephone shows, or nothing to ask for a new code. */
export interface TypedCode {
  text: string;
}

/** How far it is. */
export interface Upload {
  id: string;
  name: string;
  received: number;
  size: number;
}

/** The next piece of it. */
export interface UploadPiece {
  offset: number;
  /** Base64, at most 700,000 bytes. */
  data: string;
}

/** Use over three spans. */
export interface Usage {
  today: ModelUsage[];
  month: ModelUsage[];
  "30_days": ModelUsage[];
  today_people: PersonUsage[];
  month_people: PersonUsage[];
  "30_days_people": PersonUsage[];
}

/** Use by day, and by person and conversation over all the days. */
export interface UsageDays {
  /** Oldest first, without gaps; the last one is today. */
  days: DayUsage[];
  /** The most expensive first. */
  people: NamedPersonUsage[];
  /** The 50 most expensive ones. */
  conversations: ConversationUsage[];
  limits: UsageLimits;
}

/** What people may use in a day; 0 is no limit. The owner has none. */
export interface UsageLimits {
  person_tokens: number;
  person_money: number;
  all_money: number;
  /** From here on the owner is notified. */
  all_money_warning: number;
}

/** Which days are wanted. */
export interface UsageQuery {
  /** Today and as many days before it as make this number. */
  days?: number;
}

/** The next request, in the order in which the model reads it. */
export interface View {
  items: ViewSegment[];
}

/** The difference of two requests of a conversation. */
export interface ViewDiff {
  before: PastView;
  after: PastView;
  items: DiffItem[];
  /** Null if the older one's prefix is repeated whole. */
  broke: BrokenPrefix | null;
}

/** A text of a request, as the model reads it. */
export interface ViewPiece {
  kind: "text" | "call" | "result" | "thinking" | "image" | "document";
  text: string;
  role?: "user" | "assistant" | null;
  name?: string;
  failed?: boolean;
}

/** A part of a request: of the system prompt, a tool, the summary, or a turn. */
export interface ViewSegment {
  kind: "system" | "tools" | "summary" | "history" | "running";
  name: string;
  tokens: number;
  pieces: ViewPiece[];
  /** Its text is longer than what is shown. */
  cut: boolean;
  turn?: number | null;
  /** Some of it may rest on words from outside. */
  tainted?: boolean;
  /** Of a turn: what from outside was in view, newest first. */
  sources?: OutsideSource[];
}

/** How many things wait for the owner. */
export interface Waiting {
  /** People and groups that ask to be let in. */
  pairing: number;
  /** Calls of tools that need consent. */
  approvals: number;
  /** Channels that wait for a login. */
  logins: number;
  /** What does not work now. */
  checks: number;
  /** No model is set up: the offline one answers. */
  key_missing: boolean;
}

/** A message's way, step by step, by their start. */
export interface Waterfall {
  trace: string;
  message: string;
  state: string;
  /** Measured by this process; else put together from what is stored. */
  exact: boolean;
  steps: WaterfallStep[];
}

/** One step of a turn. */
export interface WaterfallStep {
  kind: string;
  name: string;
  state: string;
  /** The error, or the reason. */
  why: string;
  /** Unix seconds. */
  start: number;
  seconds: number;
  /** Seconds until the model's first words; 0 for none. */
  first: number;
  input: number;
  output: number;
  cached: number;
  attempts: number;
}

/** What was done, and the page that shows it. */
export interface WizardEnd {
  text: string;
  path: string;
}

/** A value to fill in, with its texts in the language that was asked for. */
export interface WizardField {
  name: string;
  title: string;
  form: "text" | "long" | "secret" | "choice" | "radio" | "moment" | "flag" | "file" | "found";
  help: string;
  example: string;
  value: string;
  options: WizardOption[];
  required: boolean;
  accept: string;
}

/** What one step of the test found. */
export interface WizardFinding {
  step: string;
  name: string;
  state: "ok" | "no" | "unknown" | "failed";
  text: string;
  hint: string;
}

/** What the page draws. */
export interface WizardForm {
  title: string;
  about: string;
  choose: string;
  kinds: WizardKind[];
  /** Id of the kind that is chosen at first; empty for none. */
  kind: string;
  /** Name of the button of the step before the test; empty for none. */
  look: string;
  test: string;
  finish: string;
  /** After a test that failed; empty if that cannot be. */
  finish_anyway: string;
  /** Heading of what the test finds. */
  result: string;
  untested: string;
  testing: string;
}

/** What a person has chosen and filled in; a file as base64. */
export interface WizardInput {
  kind?: string;
  values: Record<string, string>;
}

/** One of the things that can be set up. */
export interface WizardKind {
  id: string;
  title: string;
  note: string;
  /** It is there already, on this machine. */
  found: boolean;
  /** Where a person gets what the fields ask for. */
  link: string;
  fields: WizardField[];
}

/** What the step before the test found. */
export interface WizardLook {
  items: WizardOption[];
  fault: string;
  /** The one at fault. */
  field: string;
  said: string;
  goes_on: boolean;
}

/** One value of a field. */
export interface WizardOption {
  value: string;
  title: string;
  note: string;
}

/** The outcome of the test. */
export interface WizardReport {
  items: WizardFinding[];
  /** It may be finished. */
  ok: boolean;
  /** Of the server, without secrets. */
  said: string;
}
