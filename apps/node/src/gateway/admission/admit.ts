import type { Admission, AdmissionAsk, AdmissionGate, Admitted, Pull } from "@helm/admission";
import { EngineError } from "../../engine/engine-error";
import { cacheBytes, type EngineMemory } from "../../engine/engine-facts";
import { admissionRefused, badRequest, telemetryStale } from "../errors/gateway-error";
import type { PromptCount } from "../exchange/prompt-count";
import type { Exchange, GatewayResources } from "../exchange/resources";

const chatFields = [
  "messages",
  "tools",
  "chat_template_kwargs",
  "add_generation_prompt",
  "continue_final_message",
  "add_special_tokens",
];

/** Counts by the model's own tokenizer and template, once a request. Throws EngineError, the engine's 400 included. */
export function countPrompt(x: Exchange, model: string): Promise<PromptCount> {
  const known = x.counts.get(model);
  if (known) return known;
  const counted = countAnew(x, model);
  x.counts.set(model, counted);
  return counted;
}

async function countAnew(x: Exchange, model: string): Promise<PromptCount> {
  const { body, endpoint } = x.generation;
  const limits = { signal: x.signal };
  if (endpoint === "/v1/chat/completions") {
    const ask = Object.fromEntries(
      chatFields.flatMap((key) => (body[key] === undefined ? [] : [[key, body[key]]])),
    );
    if (!("messages" in ask)) throw badRequest("messages", "messages must be a list of messages.");
    const { tokens } = await x.engine.client.tokenize({ ...ask, model }, limits);
    return { tokens: tokens.length, lengths: [tokens.length], ids: tokens };
  }
  const prompts = readPrompts(body.prompt);
  const lengths: number[] = [];
  let ids: readonly number[] = [];
  for (const prompt of prompts) {
    if (typeof prompt === "string") {
      const special = body.add_special_tokens;
      const ask = special === undefined ? {} : { add_special_tokens: special };
      ids = (await x.engine.client.tokenize({ ...ask, model, prompt }, limits)).tokens;
    } else ids = prompt;
    lengths.push(ids.length);
  }
  const tokens = lengths.reduce((sum, length) => sum + length, 0);
  return { tokens, lengths, ids: prompts.length === 1 ? ids : null };
}

/** Each is counted by a call of its own. */
const MOST_PROMPTS = 1_024;

function readPrompts(prompt: unknown): (string | number[])[] {
  if (typeof prompt === "string") return [prompt];
  if (Array.isArray(prompt) && prompt.length > 0) {
    if (prompt.every((item) => Number.isInteger(item))) return [prompt as number[]];
    if (prompt.length > MOST_PROMPTS)
      throw badRequest("prompt", `a request has at most ${MOST_PROMPTS} prompts; send the rest in another.`);
    if (prompt.every((item) => typeof item === "string")) return prompt as string[];
    const lists = prompt as unknown[];
    if (lists.every((item) => Array.isArray(item) && item.every((id) => Number.isInteger(id)))) {
      return prompt as number[][];
    }
  }
  throw badRequest("prompt", "prompt must be text, a list of texts, token ids or a list of token id lists.");
}

/** Room for prompt and whole answer on a model, for as long as the exchange lives. Throws GatewayError 429, 413, 503. */
export async function admit(
  gw: GatewayResources,
  x: Exchange,
  model: string,
  count: PromptCount,
  maxTokens: number,
  deadlineMs = gw.limits.admissionMs,
): Promise<Admitted> {
  refuseTooMany(x, model);
  const admission = await ask(x, model, count, {
    maxTokens,
    deadlineMs,
    ticket: x.ticket,
    keepsPlace: true,
  });
  switch (admission.outcome) {
    case "admitted":
      return letIn(gw, x, admission);
    case "refused":
      gw.metrics.shortfall.observe(admission.shortfall.shortfall_bytes);
      throw admissionRefused(admission.shortfall);
    case "gone":
      gw.metrics.admission.inc({ outcome: "gone" });
      throw new EngineError({ kind: "aborted" }, "the client went away while it waited");
  }
}

/**
 * Room on a model by a bound on the prompt's tokens, without asking the engine for the count: at once or in its turn, or null, and
 * then only the exact count may refuse it.
 */
export async function admitBound(
  gw: GatewayResources,
  x: Exchange,
  model: string,
  bound: readonly number[],
  maxTokens: number,
): Promise<Admitted | null> {
  refuseTooMany(x, model);
  const { gate, memory } = doorOf(x, model);
  const admitted = await gate.admitBound({
    tenant: x.tenant.id,
    deadlineMs: gw.limits.admissionMs,
    signal: x.signal,
    bytes: bytesOf(x, memory, bound, maxTokens),
    // Most of the bound is not there: of text a token is four bytes or so.
    pull: { rows: bound.length * x.generation.n, tokens: Math.ceil((x.generation.bytes ?? 0) / 4) },
    exact: async () => bytesOf(x, memory, (await countPrompt(x, model)).lengths, maxTokens),
  });
  if (!admitted) return null;
  return letIn(gw, x, admitted);
}

/** Room on a model within a short deadline, or null: what needs it then does without. */
export async function tryReserve(
  x: Exchange,
  model: string,
  count: PromptCount,
  maxTokens: number,
  deadlineMs: number,
): Promise<Admitted | null> {
  const admission = await ask(x, model, count, { maxTokens, deadlineMs, ticket: null, keepsPlace: false });
  return admission.outcome === "admitted" ? hold(x, admission.reservation) : null;
}

function ask(
  x: Exchange,
  model: string,
  count: PromptCount,
  wish: { maxTokens: number } & Pick<AdmissionAsk, "deadlineMs" | "ticket" | "keepsPlace">,
): Promise<Admission> {
  const { gate, memory } = doorOf(x, model);
  x.trace.counted(count.tokens);
  const { maxTokens, ...asked } = wish;
  const bytes = bytesOf(x, memory, count.lengths, maxTokens);
  const pull: Pull = { rows: count.lengths.length * x.generation.n, tokens: count.tokens };
  return gate.admit({ tenant: x.tenant.id, bytes, pull, signal: x.signal, ...asked });
}

type Memory = EngineMemory["models"][string];

function doorOf(x: Exchange, model: string): { gate: AdmissionGate; memory: Memory } {
  const gate = x.engine.gates.get(model);
  const memory = x.engine.memory.models[model];
  if (!gate || !memory) throw telemetryStale(model);
  return { gate, memory };
}

/** What the engine would refuse once it has its turn, with room kept for it meanwhile. Throws GatewayError 400. */
function refuseTooMany(x: Exchange, model: string): void {
  const most = x.engine.models.get(model)?.max_batch;
  if (most && x.generation.n > most) throw badRequest("n", `n is at most ${most} here.`);
}

function bytesOf(x: Exchange, memory: Memory, lengths: readonly number[], maxTokens: number): number {
  let bytes = 0;
  for (const length of lengths) bytes += cacheBytes(memory, length, maxTokens, x.generation.n);
  return bytes;
}

/** The engine's first word of an answer says that it has read the prompt: the next one may follow. */
export function noteStarted(x: Exchange): void {
  for (const reservation of x.holds) reservation.started();
}

function letIn(
  gw: GatewayResources,
  x: Exchange,
  { reservation, waited_ms }: { reservation: Admitted; waited_ms: number },
): Admitted {
  x.trace.waited(waited_ms);
  gw.metrics.admission.inc({ outcome: waited_ms > 0 ? "queued" : "admitted" });
  return hold(x, reservation);
}

function hold(x: Exchange, reservation: Admitted): Admitted {
  x.holds.add(reservation);
  return reservation;
}
