import type { FallbackReason, TransferReport } from "@helm/contracts";
import type { Endpoint, EngineClient, JsonBody } from "../engine/engine-client";
import { toEngineError } from "../engine/engine-client";
import { Leg, readReport } from "./leg";
import { stageBody, transferBody } from "./leg-body";
import type { Salts } from "./salts";

export interface TransferAsk {
  endpoint: Endpoint;
  caller: JsonBody;
  tenant: string;
  /** The session, or something of this request alone: mapped blocks are never shared between conversations. */
  conversation: string;
  promptTokens: readonly number[];
  pilot: string;
  target: string;
  mapper: string;
  /** Weights of both models, so that a mapped block dies with the weights it was made for. */
  revisions: string;
  signal: AbortSignal;
  idleMs: number;
}

export type TransferOutcome =
  | { kind: "leg"; leg: Leg; report: TransferReport | null; stageMs: number }
  | { kind: "fallback"; reason: FallbackReason; stageMs: number | null };

/**
 * Stages the pilot's cache and asks the target with it, all within `limitMs` to the target's first token. Whatever goes
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
    const staged = await stage(client, salts, ask, { handle, mac }, left());
    stageMs = performance.now() - began;
    if (staged.result !== "staged")
      return { kind: "fallback", reason: staged.reason ?? "ENGINE_ERROR", stageMs };
    const salt = salts.mapped(ask.tenant, ask.conversation, ask.mapper, ask.revisions);
    const params = { handle, mac, mapper_sha256: ask.mapper, source_model: ask.pilot };
    leg = await Leg.open(client, ask.endpoint, transferBody(ask.caller, ask.target, salt, params), {
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
  salts: Salts,
  ask: TransferAsk,
  mark: { handle: string; mac: string },
  limitMs: number,
): Promise<TransferReport> {
  const params = { do_stage: true as const, ...mark, ttl_ms: Math.ceil(limitMs) };
  const body = stageBody(ask.caller, ask.pilot, salts.native(ask.tenant), params);
  const signal = AbortSignal.any([ask.signal, AbortSignal.timeout(Math.ceil(limitMs))]);
  const answer = await client.complete(ask.endpoint, body, { signal, headersMs: limitMs, idleMs: limitMs });
  return readReport(answer.kv_transfer_params);
}
