import { setTimeout as pause } from "node:timers/promises";
import type { NodeOrders, ServingReport, ServingState } from "@helm/contracts";
import type { Logger } from "@helm/host";
import type { ServingEngine } from "../engine/serving-engine";
import { moveServing, takesRequests } from "./serving-states";

export interface ServingPathSettings {
  /** One token from every model of the engine; throws where one gives none. */
  canary: (engine: ServingEngine) => Promise<void>;
  /** Whether an engine is to be kept running, told again whenever something changed. */
  onEngineWanted?: (wanted: boolean) => void;
  /** The node is back, or was told to look again: its pairs show that they work, too. */
  onCanary: () => void;
  /** First wait before a canary that failed is tried again. */
  retryMs?: number;
  now?: () => Date;
}

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;

type Orders = Pick<NodeOrders, "revision" | "drain" | "canary" | "park">;

/** Whether this node takes requests: its orders, its engine and its canary decide. What has begun always ends. */
export class ServingPath {
  private orders: Orders = { revision: 0, drain: false, canary: 0 };
  private engine: ServingEngine | null = null;
  /** Whether no process of an engine is left. */
  private engineGone = false;
  /** The engine that has passed a canary since it came, or since the last drain. */
  private admitted: ServingEngine | null = null;
  private running = 0;
  private now: () => Date;
  private shown: { state: ServingState; since: string };
  private lastCanary: ServingReport["canary"] = null;
  private attempt = new AbortController();

  constructor(
    private readonly settings: ServingPathSettings,
    private readonly log: Logger,
    private readonly onChange: () => void,
  ) {
    this.now = settings.now ?? (() => new Date());
    this.shown = { state: "JOINING", since: this.now().toISOString() };
  }

  get state(): ServingState {
    return this.shown.state;
  }

  report(): ServingReport {
    return {
      ...this.shown,
      running: this.running,
      orders_revision: this.orders.revision,
      canary: this.lastCanary,
    };
  }

  /** Counts a request in; null where none is taken. What comes back is called when it has ended, once. */
  enter(): (() => void) | null {
    if (!takesRequests(this.state)) return null;
    this.running += 1;
    let over = false;
    return () => {
      if (over) return;
      over = true;
      this.running -= 1;
      this.settle();
    };
  }

  /** What an earlier life was told. Its canaries are done: a start is one. */
  restore(orders: Orders | null): void {
    if (orders) this.orders = orders;
    this.settle();
  }

  obey(orders: Orders): void {
    const before = this.orders;
    if (orders.revision <= before.revision) return;
    this.orders = orders;
    this.log.info({ orders }, "new orders");
    if (orders.drain) this.admitted = null;
    if (orders.drain && !before.drain) this.attempt.abort();
    this.settle();
    const back = before.drain && !orders.drain;
    if (this.engine && (back || orders.canary > before.canary)) void this.prove(this.engine);
  }

  /** An engine that has come has passed its supervisor's canary. */
  engineChanged(engine: ServingEngine | null): void {
    if (engine === this.engine) return;
    this.engine = engine;
    this.attempt.abort();
    this.admitted = this.orders.drain ? null : engine;
    if (engine) this.note(true, null);
    this.settle();
  }

  /** The engine's process is gone, or may be there again. */
  engineParked(gone: boolean): void {
    this.engineGone = gone;
    this.settle();
  }

  /** Parked it is wanted no more, as soon as nothing runs on it. */
  get wantsEngine(): boolean {
    return !(this.orders.park && this.running === 0);
  }

  close(): void {
    this.attempt.abort();
  }

  /** Runs canaries until one passes. One that fails takes the node off the serving path. */
  private async prove(engine: ServingEngine): Promise<void> {
    this.attempt.abort();
    const attempt = new AbortController();
    this.attempt = attempt;
    const { signal } = attempt;
    for (let wait = this.settings.retryMs ?? FIRST_RETRY_MS; ; wait = Math.min(LONGEST_RETRY_MS, wait * 2)) {
      const failure = await this.settings.canary(engine).then(
        () => null,
        (error: unknown) => error,
      );
      if (signal.aborted) return;
      this.note(failure === null, failure);
      this.admitted = failure === null && !this.orders.drain ? engine : null;
      this.settle(true);
      if (failure === null) return this.settings.onCanary();
      this.log.warn(
        { err: failure, again_in_ms: wait },
        "the canary failed; no request is taken until one passes",
      );
      await pause(wait, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
    }
  }

  private note(ok: boolean, failure: unknown): void {
    const reason = failure instanceof Error ? failure.message : null;
    this.lastCanary = { number: this.orders.canary, at: this.now().toISOString(), ok, reason };
  }

  private settle(tell = false): void {
    this.settings.onEngineWanted?.(this.wantsEngine);
    const to = this.wanted();
    if (to !== this.state) {
      this.shown = { state: moveServing(this.state, to), since: this.now().toISOString() };
      this.log.info({ state: to, running: this.running }, "the node's place on the serving path changed");
    } else if (!tell) return;
    this.onChange();
  }

  private wanted(): ServingState {
    if (this.orders.park && this.engineGone) return "PARKED";
    if (this.orders.drain) return this.running > 0 ? "DRAINING" : "DRAINED";
    return this.admitted !== null && this.admitted === this.engine ? "SERVING" : "JOINING";
  }
}
