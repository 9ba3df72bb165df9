import { randomBytes, randomUUID } from "node:crypto";
import type { FallbackReason } from "@helm/contracts";
import type { EngineClient, JsonBody } from "../engine/engine-client";
import { isEngineError } from "../engine/engine-error";
import { readReport } from "../escalation/leg";

export interface TransferPoint {
  tokens: number;
  /** Target's own prefill to its first token. */
  native_ms: number;
  /** Staging of what the pilot has computed already, mapping, installing and the tail, to the first token. */
  transfer_ms: number;
}

export type CanaryResult =
  | { ok: true; minTokens: number | null; points: TransferPoint[] }
  | { ok: false; reason: FallbackReason };

export interface CanaryAsk {
  pilot: string;
  target: string;
  mapper: string;
  lengths: readonly number[];
  /** No further length is begun after this long. */
  budgetMs: number;
}

const REPEATS = 3;

/**
 * Transfers for real at several prompt lengths and measures from where on it beats the target's own prefill, given that
 * the pilot has answered. Every call has a salt of its own, so that no prefix cache takes part.
 */
export async function runTransferCanary(
  client: EngineClient,
  ask: CanaryAsk,
  signal: AbortSignal,
): Promise<CanaryResult> {
  const words = await fillerTokens(client, ask.target, Math.max(...ask.lengths), signal);
  const began = performance.now();
  const points: TransferPoint[] = [];
  const late = () => points.length > 0 && performance.now() - began > ask.budgetMs;
  for (const tokens of ask.lengths) {
    const point = await measureLength(client, ask, words.slice(0, tokens), { late, signal }).catch(
      (error) => {
        // What the whole budget of this engine cannot hold says nothing against the pair.
        if (points.length > 0 && isEngineError(error) && error.isRefusal) return null;
        throw error;
      },
    );
    if (point === null) return verdict(points);
    if ("reason" in point) {
      if (points.length === 0) return { ok: false, reason: point.reason };
      // Shorter prompts went across: what is too long for this host does not pay, and falls back by itself.
      points.push({ tokens, native_ms: point.nativeMs, transfer_ms: Number.POSITIVE_INFINITY });
      return verdict(points);
    }
    points.push(point);
  }
  return verdict(points);
}

/** One length, measured a few times; null where the time is over, and why where it does not go across. */
async function measureLength(
  client: EngineClient,
  ask: CanaryAsk,
  prompt: number[],
  { late, signal }: { late: () => boolean; signal: AbortSignal },
): Promise<TransferPoint | { reason: FallbackReason; nativeMs: number } | null> {
  const native: number[] = [];
  const moved: number[] = [];
  for (let turn = 0; turn < REPEATS; turn++) {
    if (late()) return null;
    native.push(await prefill(client, ask.target, prompt, signal));
    const transfer = await transferOnce(client, ask, prompt, signal);
    if (typeof transfer !== "number") return { reason: transfer, nativeMs: median(native) };
    moved.push(transfer);
  }
  return { tokens: prompt.length, native_ms: median(native), transfer_ms: median(moved) };
}

/** The shortest measured length from which a transfer is faster at every measured length; null: it never pays. */
export function leastPayingLength(points: readonly TransferPoint[]): number | null {
  let least: number | null = null;
  for (const point of [...points].sort((a, b) => b.tokens - a.tokens)) {
    if (point.transfer_ms >= point.native_ms) break;
    least = point.tokens;
  }
  return least;
}

function verdict(points: TransferPoint[]): CanaryResult {
  return { ok: true, minTokens: leastPayingLength(points), points };
}

async function prefill(
  client: EngineClient,
  model: string,
  prompt: number[],
  signal: AbortSignal,
  extra: JsonBody = {},
): Promise<number> {
  const asked = performance.now();
  await complete(client, model, prompt, signal, { cache_salt: randomUUID(), ...extra });
  return performance.now() - asked;
}

async function transferOnce(
  client: EngineClient,
  ask: CanaryAsk,
  prompt: number[],
  signal: AbortSignal,
): Promise<number | FallbackReason> {
  const salt = randomUUID();
  await prefill(client, ask.pilot, prompt, signal, { cache_salt: salt });
  const mark = { handle: randomBytes(16).toString("hex"), mac: randomBytes(32).toString("hex") };
  const asked = performance.now();
  const staged = readReport(
    (
      await complete(client, ask.pilot, prompt, signal, {
        cache_salt: salt,
        kv_transfer_params: { do_stage: true, ...mark, ttl_ms: 5_000 },
      })
    ).kv_transfer_params,
  );
  if (staged.result !== "staged") return staged.reason ?? "ENGINE_ERROR";
  const answer = await complete(client, ask.target, prompt, signal, {
    cache_salt: randomUUID(),
    kv_transfer_params: { ...mark, mapper_sha256: ask.mapper, source_model: ask.pilot },
  });
  const took = performance.now() - asked;
  const report = readReport(answer.kv_transfer_params);
  return report.result === "transferred" ? took : (report.reason ?? "ENGINE_ERROR");
}

function complete(
  client: EngineClient,
  model: string,
  prompt: number[],
  signal: AbortSignal,
  extra: JsonBody,
): Promise<JsonBody> {
  const body = { model, prompt, max_tokens: 1, temperature: 0, ...extra };
  return client.complete("/v1/completions", body, { signal, headersMs: 60_000 });
}

const filler =
  "The harbour lights came on one by one while the crew counted crates, wrote numbers in the book and argued about 17 missing ropes. ";

/** Ordinary text as token ids, at least `count` of them. */
async function fillerTokens(
  client: EngineClient,
  model: string,
  count: number,
  signal: AbortSignal,
): Promise<number[]> {
  const { tokens } = await client.tokenize({ model, prompt: filler, add_special_tokens: false }, { signal });
  const repeated: number[] = [];
  while (repeated.length < count) repeated.push(...tokens);
  return repeated;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.POSITIVE_INFINITY;
}
