import { EngineTiming, TransferReport } from "@helm/contracts";
import { carriesTokens } from "../engine/carries-tokens";
import { choiceEvidence } from "../engine/choice-evidence";
import type { Chunk } from "../engine/chunk";
import type { Endpoint, EngineClient, JsonBody } from "../engine/engine-client";
import { EngineError, toEngineError } from "../engine/engine-error";

export interface LegLimits {
  /** The request's own signal: its client went away, or the node stops. */
  signal: AbortSignal;
  /** From asking to the first answer token. */
  firstTokenMs: number;
  /** Between two pieces afterwards. */
  idleMs: number;
}

/** What a trace tells of a call. Times are `performance.now()`. */
export interface LegFacts {
  model: string;
  startedAt: number;
  firstTokenAt: number | null;
  endedAt: number | null;
  endedBy: string | null;
  usage: Record<string, unknown> | null;
  /** Of the answer, as far as it came: a call that is ended early brings no `usage`. Null where nobody counts. */
  heardTokens: number | null;
  timing: EngineTiming | null;
}

/** One engine call on behalf of a request. Always streamed, so that a leg that hangs is seen before it is over. */
export class Leg {
  private readonly pushedBack: Chunk[] = [];
  private lastReport: TransferReport | null = null;
  private firstTokenAt: number | null = null;
  private endedAt: number | null = null;
  private endedBy: string | null = null;
  private usage: Record<string, unknown> | null = null;
  private heardTokens = 0;
  private timing: unknown = null;
  private over = false;

  private constructor(
    readonly model: string,
    private readonly chunks: AsyncGenerator<Chunk>,
    private readonly deadline: Deadline,
    private readonly startedAt: number,
  ) {}

  /** Starts the call; resolves once the engine begins to answer. Throws EngineError. */
  static async open(
    client: EngineClient,
    endpoint: Endpoint,
    body: JsonBody,
    limits: LegLimits,
  ): Promise<Leg> {
    const startedAt = performance.now();
    const deadline = new Deadline(limits.firstTokenMs, limits.signal);
    try {
      const streamed = { ...body, stream: true, stream_options: { include_usage: true } };
      const chunks = await client.stream(endpoint, streamed, {
        signal: deadline.signal,
        idleMs: limits.idleMs,
      });
      return new Leg(String(body.model), chunks, deadline, startedAt);
    } catch (error) {
      deadline.clear();
      throw deadline.explain(error);
    }
  }

  get report(): TransferReport | null {
    return this.lastReport;
  }

  /** Milliseconds from asking to the first answer token; null before it came. */
  get firstTokenMs(): number | null {
    return this.firstTokenAt === null ? null : this.firstTokenAt - this.startedAt;
  }

  get facts(): LegFacts {
    const { model, startedAt, firstTokenAt, endedAt, endedBy, usage, heardTokens } = this;
    const timing = EngineTiming.safeParse(this.timing).data ?? null;
    return { model, startedAt, firstTokenAt, endedAt, endedBy, usage, heardTokens, timing };
  }

  /** The next chunk, null after the last one. */
  async next(): Promise<Chunk | null> {
    return this.pushedBack.shift() ?? this.read();
  }

  /** Waits for the first answer token; what came before and with it is still given by `next`. */
  async awaitFirstToken(): Promise<void> {
    while (this.firstTokenAt === null) {
      const chunk = await this.read();
      if (chunk === null) return;
      this.pushedBack.push(chunk);
    }
  }

  /** Ends the call; the engine frees what it held. Safe at any time, and more than once. */
  cancel(): void {
    if (this.over) return;
    this.end("not_needed");
    this.deadline.abort();
    // The generator's own end is of no interest any more.
    this.chunks.return(undefined).catch(() => {});
  }

  private async read(): Promise<Chunk | null> {
    if (this.over) return null;
    try {
      const { value, done } = await this.chunks.next();
      if (done || !value) {
        this.end(null);
        this.deadline.clear();
        return null;
      }
      this.take(value);
      return value;
    } catch (error) {
      const explained = this.deadline.explain(error);
      this.end(explained.failure.kind);
      this.deadline.clear();
      throw explained;
    }
  }

  private end(by: string | null): void {
    this.over = true;
    this.endedAt = performance.now();
    this.endedBy = by;
  }

  private take(chunk: Chunk): void {
    if (this.firstTokenAt === null && carriesTokens(chunk)) {
      this.firstTokenAt = performance.now();
      this.deadline.clear();
    }
    for (const choice of chunk.choices)
      this.heardTokens += choice.token_ids?.length ?? choiceEvidence(choice).length;
    if (chunk.usage) this.usage = chunk.usage;
    if (chunk.helm_timing) this.timing = chunk.helm_timing;
    if (chunk.kv_transfer_params) this.lastReport = readReport(chunk.kv_transfer_params);
  }
}

/** What the engine says about a staging or a transfer; an answer nobody can read counts as an engine error. */
export function readReport(value: unknown): TransferReport {
  const parsed = TransferReport.safeParse(value);
  if (parsed.success) return parsed.data;
  const reason = TransferReport.shape.reason.safeParse((value as { reason?: unknown } | null)?.reason);
  return { result: "fallback", reason: (reason.success ? reason.data : null) ?? "ENGINE_ERROR" };
}

/** A time limit that is an abort signal too, and remembers which of the two ended the call. */
class Deadline {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private expired = false;
  private readonly onOuter = () => this.controller.abort();

  constructor(
    ms: number,
    private readonly outer: AbortSignal,
  ) {
    this.timer = setTimeout(
      () => {
        this.expired = true;
        this.controller.abort();
      },
      Math.max(0, ms),
    );
    outer.addEventListener("abort", this.onOuter, { once: true });
    if (outer.aborted) this.controller.abort();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** The limit no longer holds; the outer signal still does. */
  clear(): void {
    clearTimeout(this.timer);
  }

  abort(): void {
    this.clear();
    this.outer.removeEventListener("abort", this.onOuter);
    this.controller.abort();
  }

  explain(error: unknown): EngineError {
    if (this.expired) {
      return new EngineError({ kind: "timeout" }, "the engine brought no token in time", { cause: error });
    }
    return toEngineError(error);
  }
}
