// The settings as they are edited: what is stored, what is drafted, what is wrong with it, and what others changed.

import { ApiError, get, post, read, reason, send } from "../lib/api";
import { t } from "../lib/words/settings";
import type { Conflict } from "../lib/textfile.svelte";
import type { SettingsChecked, SettingsKey, SettingsKeys, SettingsOrigin, SettingsState as FileState } from "../lib/types";
import { fieldOf, nested, same, typed, valueAt, type Tree } from "./settings";

const CHECK_AFTER_MS = 300;

export class SettingsEditor {
  /** That of the settings page: what is typed there outlives a login that ends. */
  static readonly page = new SettingsEditor();

  keys = $state.raw<SettingsKey[] | null>(null);
  stored = $state.raw<Tree>({});
  origins = $state.raw(new Map<string, SettingsOrigin>());
  drafts = $state.raw(new Map<string, unknown>());
  /** Why the file on disk is not in force; "" where it is. */
  trouble = $state("");
  /** Why the settings could not be read. */
  why = $state("");
  /** Edited here, and changed elsewhere since they were read. */
  elsewhere = $state.raw<string[]>([]);
  /** What those were before both changes. */
  #bases = $state.raw(new Map<string, unknown>());
  refused = $state("");
  saving = $state(false);
  /** Keys that were saved here and wait for a restart. */
  restart = $state.raw<string[]>([]);
  tag = "";
  #mistyped = $state.raw(new Map<string, string>());
  #problems = $state.raw(new Map<string, string>());
  #timer = 0;
  #round = 0;

  get wrong(): ReadonlyMap<string, string> {
    return new Map([...this.#problems, ...this.#mistyped]);
  }

  leaf = (name: string): SettingsKey => this.keys!.find((key) => key.key === name)!;

  async load(): Promise<void> {
    try {
      const asked = this.keys ?? get<SettingsKeys>("/config/keys").then(({ items }) => items);
      [this.keys] = await Promise.all([asked, this.follow()]);
      this.why = "";
    } catch (err) {
      this.why = reason(err);
    }
  }

  /** Read the file's state, and its values where it has changed; what is edited here stays. */
  async follow(): Promise<void> {
    const state = await get<FileState>("/config/state");
    this.trouble = state.trouble?.message ?? "";
    this.origins = new Map(state.items.map((origin) => [origin.key, origin]));
    if (state.tag === this.tag || this.saving) return;
    const now = await read<Tree>("/config");
    if (this.tag) {
      const changed = [...this.drafts].filter(([key]) => !same(valueAt(now.body, key), valueAt(this.stored, key)));
      const open = changed.filter(([key, value]) => !same(valueAt(now.body, key), value)).map(([key]) => key);
      this.elsewhere = [...new Set([...this.elsewhere, ...open])];
      this.#bases = new Map([...open.map((key) => [key, valueAt(this.stored, key)] as const), ...this.#bases]);
      this.drafts = new Map([...this.drafts].filter(([key, value]) => !same(valueAt(now.body, key), value)));
    }
    this.stored = now.body;
    this.tag = now.headers.get("etag") ?? "";
  }

  edit(key: SettingsKey, value: unknown): void {
    const next = new Map(this.drafts);
    if (same(value, valueAt(this.stored, key.key))) next.delete(key.key);
    else next.set(key.key, value);
    this.#draft(next);
    this.mistyped(key.key, "");
  }

  /** Those in both ways, and as they were before. */
  get conflicts(): Conflict[] {
    const base = (name: string): string => typed(this.#bases.get(name), fieldOf(this.leaf(name))) || "–";
    return this.elsewhere.map((name) => ({ name, base: base(name), stored: this.before(name), mine: this.after(name) }));
  }

  /** Leave a draft as it is here. */
  keep(name: string): void {
    this.elsewhere = this.elsewhere.filter((key) => key !== name);
  }

  /** Give a draft up. */
  drop(name: string): void {
    this.#draft(new Map([...this.drafts].filter(([key]) => key !== name)));
    this.mistyped(name, "");
  }

  reset(): void {
    this.#draft(new Map());
    this.#mistyped = new Map();
    this.elsewhere = [];
  }

  mistyped(name: string, text: string): void {
    if ((this.#mistyped.get(name) ?? "") === text) return;
    const next = new Map(this.#mistyped);
    if (text) next.set(name, text);
    else next.delete(name);
    this.#mistyped = next;
  }

  #draft(next: Map<string, unknown>): void {
    this.drafts = next;
    this.refused = "";
    this.elsewhere = this.elsewhere.filter((key) => next.has(key));
    this.#bases = new Map([...this.#bases].filter(([key]) => next.has(key)));
    this.#problems = new Map([...this.#problems].filter(([key]) => next.has(key)));
    clearTimeout(this.#timer);
    this.#round += 1;
    if (next.size) this.#timer = window.setTimeout(() => void this.#check(this.#round), CHECK_AFTER_MS);
  }

  /** Let the server look at what was typed. */
  async #check(round: number): Promise<void> {
    try {
      const found = await post<SettingsChecked>("/config/check", { part: nested(this.drafts) });
      if (round === this.#round) this.#problems = new Map(found.items.map((one) => [one.key, one.message]));
    } catch {
      // Saving will tell.
    }
  }

  /** Save what is drafted and read it back; true where that is what was meant. */
  async save(): Promise<boolean> {
    const drafts = this.drafts;
    this.saving = true;
    this.refused = "";
    try {
      await send("PATCH", "/config", nested(drafts), { "if-match": this.tag });
      const back = await read<Tree>("/config");
      this.stored = back.body;
      this.tag = back.headers.get("etag") ?? "";
      const lost = [...drafts].filter(([key, value]) => !this.leaf(key).secret && !same(valueAt(back.body, key), value));
      this.restart = [...new Set([...this.restart, ...[...drafts.keys()].filter((key) => this.leaf(key).takes_effect === "restart")])];
      this.elsewhere = [];
      this.#draft(new Map(lost));
      if (lost.length) this.refused = t("not_as_saved", { keys: lost.map(([key]) => key).join(", ") });
      return !lost.length;
    } catch (err) {
      this.saving = false;
      if (err instanceof ApiError && err.status === 412) return await this.#merge();
      this.refused = reason(err);
      return false;
    } finally {
      this.saving = false;
    }
  }

  /** Changed elsewhere: say which of those that are edited here, or save over what is there now where none is. */
  async #merge(): Promise<boolean> {
    const before = this.tag;
    try {
      await this.follow();
    } catch (err) {
      this.refused = reason(err);
      return false;
    }
    return this.tag !== before && !this.elsewhere.length && this.drafts.size > 0 && (await this.save());
  }

  before(name: string): string {
    return typed(valueAt(this.stored, name), fieldOf(this.leaf(name))) || "–";
  }

  after(name: string): string {
    if (this.leaf(name).secret) return this.drafts.get(name) ? "•••" : "–";
    return typed(this.drafts.get(name), fieldOf(this.leaf(name))) || "–";
  }
}
