import type { FallbackReason, TransferReport } from "@helm/contracts";
import type { Endpoint, EngineClient, JsonBody } from "../engine/engine-client";
import { toEngineError } from "../engine/engine-error";
import { Leg, readReport } from "./leg";
import { type LineKey, stageBody, transferBody } from "./leg-body";
import type { Salts } from "./salts";

/** A model of the conversation, and where its blocks of it lie. */
export interface TransferSide {
  model: string;
  line: LineKey;
}

export interface TransferAsk {
  endpoint: Endpoint;
  /** What the taker is asked, evidence for a judge included. */
  caller: JsonBody;
  tenant: string;
  promptTokens: readonly number[];
  /** Whose cache is read, and who answers from it. */
  giver: TransferSide;
  taker: TransferSide;
  mapper: string;
  /** What the taker holds already: only what lies behind it is staged. */
  fromToken: number;
  signal: AbortSignal;
  idleMs: number;
}

export type TransferOutcome =
  | { kind: "leg"; leg: Leg; report: TransferReport | null; stageMs: number }
  | { kind: "fallback"; reason: FallbackReason; stageMs: number | null };

/**
 * Stages the giver's cache and asks the taker with it, all within `limitMs` to the taker's first token. Whatever goes
 * wrong comes back as a reason; only the request's own end (its client left) is thrown.
 */
export async function attemptTransfer(
  client: EngineClient,
  salts: Salts,
  ask: TransferAsk,
  limitMs: number,
): Promise<TransferOutcome> {
  const began = performance.now();
  const left = () => Math.max(1, limitMs - (performance.now() - began));
  let stageMs: number | null = null;
  let leg: Leg | null = null;
  try {
    const handle = salts.newHandle();
    const mac = salts.stagingMac(ask.tenant, ask.promptTokens, ask.mapper);
    const staged = await stage(client, ask, { handle, mac }, left());
    stageMs = performance.now() - began;
    if (staged.result !== "staged")
      return { kind: "fallback", reason: staged.reason ?? "ENGINE_ERROR", stageMs };
    const { giver, taker } = ask;
    const params = { handle, mac, mapper_sha256: ask.mapper, source_model: giver.model };
    leg = await Leg.open(client, ask.endpoint, transferBody(ask.caller, taker.model, taker.line, params), {
      signal: ask.signal,
      firstTokenMs: left(),
      idleMs: ask.idleMs,
    });
    await leg.awaitFirstToken();
    return { kind: "leg", leg, report: leg.report, stageMs };
  } catch (error) {
    leg?.cancel();
    if (ask.signal.aborted) throw error;
    const failure = toEngineError(error).failure;
    return { kind: "fallback", reason: failure.kind === "timeout" ? "TIMEOUT" : "ENGINE_ERROR", stageMs };
  }
}

async function stage(
  client: EngineClient,
  ask: TransferAsk,
  mark: { handle: string; mac: string },
  limitMs: number,
): Promise<TransferReport> {
  const from = ask.fromToken > 0 ? { from_token: ask.fromToken } : {};
  const params = { do_stage: true as const, ...mark, ttl_ms: Math.ceil(limitMs), ...from };
  const body = stageBody(ask.caller, ask.giver.model, ask.giver.line, params);
  const signal = AbortSignal.any([ask.signal, AbortSignal.timeout(Math.ceil(limitMs))]);
  const answer = await client.complete(ask.endpoint, body, { signal, headersMs: limitMs, idleMs: limitMs });
  return readReport(answer.kv_transfer_params);
}
