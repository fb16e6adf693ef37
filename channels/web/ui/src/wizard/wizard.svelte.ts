// What a person sets up step by step, as the server describes it: choose, fill in, look, test, finish.

import { get, post, reason } from "../lib/api";
import { Loading } from "../lib/loading.svelte";
import type { WizardEnd, WizardField, WizardForm, WizardKind, WizardLook, WizardReport } from "../lib/types";

type Step = "look" | "test" | "finish";

export class Wizard {
  readonly form = new Loading(async () => {
    const form = await get<WizardForm>(`/wizards/${this.name}`);
    const first = form.kinds.find((kind) => kind.id === (this.kind?.id ?? form.kind));
    if (this.kind) this.kind = first ?? this.kind;
    else if (first) this.choose(first);
    return form;
  });
  kind = $state.raw<WizardKind | null>(null);
  values = $state<Record<string, string>>({});
  /** What the step before the test has found; null before it. */
  found = $state.raw<WizardLook | null>(null);
  report = $state.raw<WizardReport | null>(null);
  busy = $state<"" | Step>("");
  /** Why the last step could not be done, "" where it could. */
  why = $state("");
  #round = 0;

  constructor(readonly name: string) {}

  choose(kind: WizardKind): void {
    this.kind = kind;
    this.values = Object.fromEntries(kind.fields.map((field) => [field.name, field.value]));
    this.#forget();
    if (kind.found && this.form.value?.look) void this.look();
  }

  /** Another value: what was tried with the former one does not hold. */
  fill(field: WizardField, value: string): void {
    if (this.values[field.name] === value) return;
    this.values[field.name] = value;
    this.#forget(field.form === "found" ? this.found : null);
  }

  look(): Promise<void> {
    this.#forget();
    return this.#do<WizardLook>("look", (found) => {
      this.found = found;
      const asked = this.kind?.fields.find((field) => field.form === "found");
      const [only, ...others] = found.items;
      if (asked && only && !others.length && !this.values[asked.name]) this.values[asked.name] = only.value;
    });
  }

  test(): Promise<void> {
    this.report = null;
    return this.#do<WizardReport>("test", (report) => (this.report = report));
  }

  finish(take: (end: WizardEnd) => unknown): Promise<void> {
    return this.#do<WizardEnd>("finish", take);
  }

  /** Wait no longer for what was asked. */
  cancel(): void {
    this.#round += 1;
    this.busy = "";
  }

  #forget(found: WizardLook | null = null): void {
    this.cancel();
    this.found = found;
    this.report = null;
    this.why = "";
  }

  async #do<Reply>(step: Step, take: (reply: Reply) => unknown): Promise<void> {
    const round = ++this.#round;
    this.busy = step;
    this.why = "";
    try {
      const reply = await post<Reply>(`/wizards/${this.name}/${step}`, { kind: this.kind?.id, values: this.values });
      if (round !== this.#round) return;
      if (step !== "finish") this.busy = ""; // what comes next takes the focus, which nothing disabled can
      await take(reply);
    } catch (err) {
      if (round === this.#round) this.why = reason(err);
    } finally {
      if (round === this.#round) this.busy = "";
    }
  }
}
