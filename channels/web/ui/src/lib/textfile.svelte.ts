// A text that is edited here while others may change it: read, merged with their changes, and saved over what was read.

import { ApiError, read, reason, send } from "./api";
import { t } from "./words/merge";
import { isConflict, merged, piecesOf } from "./merge";

/** One place that was changed here and elsewhere. */
export interface Conflict {
  name: string;
  base: string;
  stored: string;
  mine: string;
}

export class TextFile<Body extends { text: string }> {
  text = $state("");
  /** What is stored, as far as is known here. */
  stored = $state("");
  loaded = $state(false);
  saving = $state(false);
  /** Why it was not read or saved the last time. */
  why = $state("");
  /** It was deleted elsewhere, and is made again when it is saved. */
  gone = $state(false);
  /** What was stored before it was changed here and elsewhere; null where it was not. */
  #base = $state<string | null>(null);
  /** What was typed before the changes of others came to it. */
  #typed = "";
  #tag: string | null = null;
  readonly changed = $derived(this.loaded && this.text !== this.stored);
  readonly #pieces = $derived(this.#base === null ? [] : piecesOf(this.#base, this.stored, this.text));
  /** Places that are left to decide, by their lines here. */
  readonly conflicts = $derived(this.#open());

  constructor(private readonly path: () => string) {}

  get isMerged(): boolean {
    return this.#base !== null;
  }

  /** Give up what is edited here for what is stored; null where it could not be read. */
  async load(): Promise<Body | null> {
    try {
      const body = await this.#read();
      this.#settle(body.text);
      this.loaded = true;
      return body;
    } catch (err) {
      this.why = reason(err);
      return null;
    }
  }

  async #read(): Promise<Body> {
    const { body, headers } = await read<Body>(this.path());
    this.#tag = headers.get("etag");
    this.stored = body.text;
    return body;
  }

  #settle(text: string): void {
    this.text = text;
    this.#base = null;
    this.gone = false;
    this.why = "";
  }

  /** Save it and read it back; true once it is stored. */
  async save(): Promise<boolean> {
    const sent = this.text;
    this.saving = true;
    this.why = "";
    try {
      await send("PUT", this.path(), { text: sent }, this.#tag ? { "if-match": this.#tag } : { "if-none-match": "*" });
      await this.#read();
      this.#settle(this.text === sent ? this.stored : this.text);
      return true;
    } catch (err) {
      if (err instanceof ApiError && err.status === 412) return await this.#merge();
      this.why = reason(err);
      return false;
    } finally {
      this.saving = false;
    }
  }

  /** Take in what others changed; true where nothing is left to save. */
  async #merge(): Promise<boolean> {
    const base = this.stored;
    try {
      await this.#read();
      this.gone = false;
    } catch (err) {
      this.gone = err instanceof ApiError && err.status === 404;
      if (this.gone) [this.#tag, this.stored] = [null, ""];
      else this.why = reason(err);
      return false;
    }
    [this.#base, this.#typed] = [base, this.text];
    this.text = merged(this.#pieces);
    if (!this.changed) this.#settle(this.stored);
    return !this.changed;
  }

  #open(): (Conflict & { line: number; at: number })[] {
    let line = 1;
    return this.#pieces.flatMap((piece, at) => {
      const [first, count] = [line, piece.mine.split("\n").length - (piece.mine.endsWith("\n") ? 1 : 0)];
      line += piece.mine.split("\n").length - 1;
      const name = count > 1 ? t("lines", { first, last: first + count - 1 }) : t("line", { line: first });
      return isConflict(piece) ? [{ ...piece, name, line: first, at }] : [];
    });
  }

  /** Put what is stored at one place in place of what is here. */
  take(place: number): void {
    this.text = this.#pieces.map((piece, at) => (at === place ? piece.stored : piece.mine)).join("");
  }

  /** Leave one place as it is here. */
  keep(place: number): void {
    this.#base = this.#pieces.map((piece, at) => (at === place ? piece.stored : piece.base)).join("");
  }

  /** Take everything as it is stored. */
  takeAll(): void {
    this.#settle(this.stored);
  }

  /** Leave everything as it was typed here. */
  keepAll(): void {
    this.#settle(this.#typed);
  }
}
