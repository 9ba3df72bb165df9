import type {
  Decision,
  RequestTrace,
  StreamingMode,
  TraceJudge,
  TraceKept,
  TraceLeg,
  TraceShare,
  TransferReport,
} from "@helm/contracts";
import type { Tenant } from "../config/access";
import type { Chunk } from "../engine/chunk";
import type { LegFacts } from "../escalation/leg";
import type { Generation } from "../gateway/bodies/generation";
import { TextKeeper } from "./trace-text";

type LegRole = TraceLeg["role"];

export interface TraceAnswer {
  route: string | null;
  pairId: string | null;
  decision: Decision;
  reason: string | null;
  servedBy: string;
  transfer: "transferred" | "fallback" | "none";
  report: TransferReport | null;
  stageMs: number | null;
  firstTokenMs: number | null;
}

export interface TraceFailure {
  status: number;
  code: string;
  shortfall: RequestTrace["shortfall"];
}

/** What is gathered of one request while it is served; cheap, since most requests are not sent. */
export class TraceBuilder {
  private readonly begunAt = performance.now();
  private endedAt: number | null = null;
  private readonly text: TextKeeper | null;
  private readonly legs: { role: LegRole; facts: () => LegFacts; prompt: number | null }[] = [];
  private answering: (() => LegFacts) | null = null;
  private generation: Generation | null = null;
  private hasSession = false;
  private queueMs: number | null = null;
  private promptTokens: number | null = null;
  private mode: StreamingMode | null = null;
  private judge: TraceJudge | null = null;
  private answer: TraceAnswer | null = null;
  private failure: TraceFailure | null = null;
  private shareOf: Promise<TraceShare | null> | null = null;
  private share: TraceShare | null = null;

  constructor(
    readonly id: string,
    readonly tenant: Tenant,
    private readonly endpoint: RequestTrace["endpoint"],
    private readonly at: Date,
    /** Somebody waits for this trace. */
    readonly asked: boolean,
    /** Of the caller's own trace. */
    readonly traceparent: string | null = null,
  ) {
    this.text = TextKeeper.for(tenant, at);
  }

  understood(generation: Generation, hasSession: boolean): void {
    this.generation = generation;
    this.hasSession = hasSession;
    this.text?.asked(generation);
  }

  /** Room was waited for; only the first leg's wait is the queue's. */
  waited(ms: number): void {
    this.queueMs ??= ms;
  }

  counted(tokens: number): void {
    this.promptTokens = tokens;
  }

  holdsBack(mode: StreamingMode): void {
    this.mode = mode;
  }

  judged(judge: TraceJudge | null): void {
    this.judge = judge;
  }

  /** Facts are asked for at the end: a leg is noted when it begins. `prompt`: its tokens, where they were counted. */
  leg(role: LegRole, leg: { facts: LegFacts }, prompt: number | null = null): void {
    this.legs.push({ role, facts: () => leg.facts, prompt });
  }

  /** The answer of this leg goes out; one that went before it is forgotten. */
  answersWith(leg: { facts: LegFacts }): void {
    this.answering = () => leg.facts;
    this.text?.forget();
  }

  heard(chunk: Chunk): void {
    this.text?.heard(chunk);
  }

  answered(answer: TraceAnswer): void {
    this.answer = answer;
  }

  failed(failure: TraceFailure): void {
    this.failure = failure;
  }

  /** The trace is sent once the share is known; null where it could not be had. Must not reject. */
  awaitShare(share: Promise<TraceShare | null>): void {
    this.shareOf = share;
  }

  end(): void {
    this.endedAt ??= performance.now();
  }

  async settle(): Promise<void> {
    if (this.shareOf) this.share = await this.shareOf.catch(() => null);
  }

  get isAnswered(): boolean {
    return this.answer !== null;
  }

  get promptLength(): number | null {
    return this.promptTokens;
  }

  get waitsForShare(): boolean {
    return this.shareOf !== null;
  }

  get facts() {
    const transfer = this.answer?.transfer ?? null;
    return { transfer, errorCode: this.failure?.code ?? null, share: this.share !== null, asked: this.asked };
  }

  build(from: {
    generation: number;
    development: boolean;
    kept: TraceKept;
    propensity: number;
  }): RequestTrace {
    const { answer, failure } = this;
    const moved = answer?.transfer === "transferred" ? answer.report : null;
    return {
      id: this.id,
      at: this.at.toISOString(),
      tenant_id: this.tenant.id,
      route: answer?.route ?? null,
      pair_id: answer?.pairId ?? null,
      generation: from.generation,
      endpoint: this.endpoint,
      development: from.development,
      decision: answer?.decision ?? null,
      reason: answer?.reason ?? null,
      served_by: answer?.servedBy ?? null,
      transfer: answer?.transfer ?? null,
      status: failure?.status ?? 200,
      error_code: failure?.code ?? null,
      shortfall: failure?.shortfall ?? null,
      mode: this.mode,
      streamed: this.generation?.stream ?? false,
      session: this.hasSession,
      tokens: {
        prompt: this.promptTokens,
        moved: moved?.tokens_moved ?? null,
        tail: moved?.tail_tokens ?? null,
      },
      queue_ms: rounded(this.queueMs),
      legs: this.legs.slice(0, 12).map(({ role, facts, prompt }) => this.describe(role, facts(), prompt)),
      steps: answer?.stageMs == null ? null : stepsOf(answer, moved),
      judge: this.judge,
      first_token_ms: rounded(answer?.firstTokenMs ?? null),
      total_ms: rounded((this.endedAt ?? performance.now()) - this.begunAt) ?? 0,
      share: this.share,
      text: this.text?.text ?? null,
      kept: from.kept,
      propensity: from.propensity,
    };
  }

  private describe(role: LegRole, facts: LegFacts, prompt: number | null): TraceLeg {
    const since = (at: number | null) => (at === null ? null : rounded(Math.max(0, at - this.begunAt)));
    const { startedAt, firstTokenAt, endedAt, usage, heardTokens, timing } = facts;
    return {
      role,
      model: facts.model,
      started_ms: since(startedAt) ?? 0,
      first_token_ms: since(firstTokenAt),
      ended_ms: since(endedAt),
      prompt_tokens: wholeNumber(usage?.prompt_tokens) ?? prompt,
      completion_tokens: wholeNumber(usage?.completion_tokens) ?? heardTokens,
      engine_queue_ms: rounded(timing?.queue_ms ?? null),
      engine_prefill_ms: rounded(timing?.prefill_ms ?? null),
      answered: this.answering?.().startedAt === startedAt && this.answer !== null,
      ended_by: facts.endedBy,
    };
  }
}

/** Older reports of the reference engine call the mapping's time `strip_map_ms`. */
function stepsOf(answer: TraceAnswer, moved: TransferReport | null): RequestTrace["steps"] {
  const map = moved?.map_ms ?? moved?.strip_map_ms;
  return {
    stage_ms: rounded(answer.stageMs),
    map_ms: typeof map === "number" ? rounded(map) : null,
    install_ms: rounded(moved?.install_ms ?? null),
    tail_ms: rounded(moved?.tail_ms ?? null),
    total_ms: moved ? rounded(answer.firstTokenMs) : null,
  };
}

function wholeNumber(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : null;
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.max(0, Math.round(ms * 100) / 100);
}
