// A model on its way into use: a kind of server, the way in, one of its models, and what the test of it shows.

import { get, post, reason } from "../lib/api";
import { Loading } from "../lib/loading.svelte";
import type { EndpointFault, FoundServer, ListedModel, ListedModels, ModelReport, Preset, Presets } from "../lib/types";
import { isSameEndpoint, type ModelChoice, type SavedEndpoint } from "./endpoints";

type Step = "list" | "test" | "use";

export class ModelWizard {
  /** Kinds of servers, and those that answer on this machine. */
  readonly presets = new Loading(() => get<Presets>("/models/presets?local=1"));
  preset = $state.raw<Preset | null>(null);
  address = $state("");
  key = $state("");
  model = $state("");
  /** Null until the server was asked. */
  listed = $state.raw<ListedModel[] | null>(null);
  fault = $state.raw<EndpointFault | null>(null);
  report = $state.raw<ModelReport | null>(null);
  busy = $state<"" | Step>("");
  /** Why the last step could not be done, "" where it could. */
  why = $state("");
  #round = 0;

  /** saved: the endpoints that are configured, whose keys may be left out. */
  constructor(private readonly saved: () => SavedEndpoint | null) {}

  /** Found servers first, then the others as the server orders them. */
  get kinds(): { preset: Preset; found: FoundServer | undefined }[] {
    const { items = [], found = [] } = this.presets.value ?? {};
    const kinds = items.map((preset) => ({ preset, found: found.find((server) => server.preset === preset.id) }));
    return [...kinds.filter((kind) => kind.found), ...kinds.filter((kind) => !kind.found)];
  }

  /** The masked key that is saved for this endpoint, "" for none. */
  get savedKey(): string {
    const saved = this.saved();
    return saved && this.preset && isSameEndpoint(saved, this.preset, this.address) ? saved.api_key : "";
  }

  get isReachable(): boolean {
    if (!this.preset || (this.preset.id === "own" && !this.address.trim())) return false;
    return !this.preset.needs_key || Boolean(this.key.trim() || this.savedKey);
  }

  choose(preset: Preset, found?: FoundServer): void {
    this.preset = preset;
    this.key = "";
    this.model = "";
    this.reach(found?.base_url ?? preset.base_url);
    if (found) void this.list();
  }

  /** Another address, or another key: what is known of the server does not hold. */
  reach(address: string, key = this.key): void {
    this.cancel();
    [this.address, this.key] = [address, key];
    this.listed = this.fault = this.report = null;
    this.why = "";
  }

  pick(model: string): void {
    if (model === this.model) return;
    this.cancel();
    this.model = model;
    this.report = null;
    this.why = "";
  }

  get choice(): ModelChoice {
    return { preset: this.preset!.id, base_url: this.address.trim(), api_key: this.key.trim(), model: this.model.trim() };
  }

  list(): Promise<void> {
    const { preset, base_url, api_key } = this.choice;
    this.listed = this.fault = this.report = null;
    return this.#do("list", () => post<ListedModels>("/models/list", { preset, base_url, api_key }), (reply) => {
      this.listed = reply.items;
      this.fault = reply.error ?? null;
      const [only, ...others] = reply.items;
      if (only && !others.length && !this.model) this.model = only.id;
    });
  }

  test(): Promise<void> {
    this.report = null;
    return this.#do("test", () => post<ModelReport>("/models/test", this.choice), (report) => (this.report = report));
  }

  use(save: (choice: ModelChoice) => Promise<unknown>): Promise<void> {
    return this.#do("use", () => save(this.choice), () => {});
  }

  /** Wait no longer for what was asked. */
  cancel(): void {
    this.#round += 1;
    this.busy = "";
  }

  async #do<Reply>(step: Step, ask: () => Promise<Reply>, take: (reply: Reply) => void): Promise<void> {
    const round = ++this.#round;
    this.busy = step;
    this.why = "";
    try {
      const reply = await ask();
      if (round === this.#round) take(reply);
    } catch (err) {
      if (round === this.#round) this.why = reason(err);
    } finally {
      if (round === this.#round) this.busy = "";
    }
  }
}
