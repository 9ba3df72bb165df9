import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { findCheckout } from "@helm/host";
import { decodeCounts, meanBatch } from "./engine-metrics";
import type { Decoded, RealEngine } from "./real-engine";
import { otherKey, type TestGateway, testKey } from "./test-gateway";

/** Below this gap of an offline decode's two best logits, float noise may decide. */
export const NEAR_TIE = 1e-4;

export interface EqualityCounts {
  prompts: number;
  transferred: number;
  equal: number;
  /** Differing only from a position on where the offline decode's margin is below NEAR_TIE. */
  nearTies: number;
  different: { id: string; position: number; margin: number | null }[];
  /** Answers by why nothing was carried across. */
  fallbacks: Record<string, number>;
  /** Sequences that the target decoded together in a step, in the mean; by the engine's own count. */
  meanBatch: number | null;
}

export interface EqualityAsk {
  prompts: number;
  maxTokens: number;
  /** How many requests are under way at a time. */
  atOnce: number;
  transfer: "force" | "auto" | "off";
}

interface Live {
  id: string;
  prompt: number[];
  tokens: number[];
  transferred: boolean;
  reason: string;
}

/** Offline decodes, each made once however often it is compared with. */
export class OfflineAnswers {
  private readonly known = new Map<string, Decoded>();

  constructor(
    private readonly engine: RealEngine,
    private readonly maxTokens: number,
  ) {}

  /** By id: from the same transferred cache, or of the target alone. */
  async of(answers: readonly Live[], native: boolean): Promise<Map<string, Decoded>> {
    const missing = answers.filter((answer) => !this.known.has(key(answer.id, native)));
    if (missing.length > 0) {
      const prompts = missing.map((answer) => ({ id: answer.id, tokens: answer.prompt }));
      const decoded = await this.engine.decode(prompts, this.maxTokens, native);
      for (const one of decoded) this.known.set(key(one.id, native), one);
    }
    return new Map(
      answers.flatMap(({ id }) => {
        const found = this.known.get(key(id, native));
        return found ? [[id, found] as const] : [];
      }),
    );
  }
}

const key = (id: string, native: boolean) => `${native ? "native" : "mapped"} ${id}`;

/**
 * Asks the gateway for escalated answers, greedily, and compares each with an offline decode: from the same transferred
 * cache where the answer was transferred, of the target alone where it fell back.
 */
export async function compareWithOffline(
  gateway: TestGateway,
  engine: RealEngine,
  ask: EqualityAsk,
  offline = new OfflineAnswers(engine, ask.maxTokens),
): Promise<EqualityCounts> {
  const tasks = (await readTasks()).slice(0, ask.prompts);
  const before = await decodeCounts(engine.socketPath, "target");
  const live = await askAll(gateway, tasks, ask);
  const after = await decodeCounts(engine.socketPath, "target");
  const counts: EqualityCounts = {
    prompts: live.length,
    transferred: live.filter((answer) => answer.transferred).length,
    equal: 0,
    nearTies: 0,
    different: [],
    fallbacks: {},
    meanBatch: meanBatch(before, after),
  };
  for (const { transferred, reason } of live)
    if (!transferred) counts.fallbacks[reason] = (counts.fallbacks[reason] ?? 0) + 1;
  for (const transferred of [true, false]) {
    const answers = live.filter((answer) => answer.transferred === transferred);
    if (answers.length === 0) continue;
    const decoded = await offline.of(answers, !transferred);
    for (const answer of answers) compare(answer, decoded.get(answer.id), counts);
  }
  return counts;
}

/** Keeps `atOnce` requests under way until all are answered; in order of tasks. */
async function askAll(gateway: TestGateway, tasks: readonly Task[], ask: EqualityAsk): Promise<Live[]> {
  const live: Live[] = new Array(tasks.length);
  const left = tasks.entries();
  const one = async () => {
    for (const [at, task] of left) live[at] = await escalate(gateway, task, ask);
  };
  await Promise.all(Array.from({ length: ask.atOnce }, one));
  return live;
}

function compare(answer: Live, offline: Decoded | undefined, counts: EqualityCounts): void {
  const length = Math.max(answer.tokens.length, offline?.tokens.length ?? 0);
  for (let position = 0; position < length; position++) {
    if (answer.tokens[position] === offline?.tokens[position]) continue;
    const margin = offline?.margins[position] ?? null;
    if (margin !== null && margin < NEAR_TIE) counts.nearTies += 1;
    else counts.different.push({ id: answer.id, position, margin });
    return;
  }
  if (length > 0) counts.equal += 1;
  else counts.different.push({ id: answer.id, position: 0, margin: null });
}

interface Task {
  id: string;
  prompt: { role: string; content: string }[];
}

async function readTasks(): Promise<Task[]> {
  const text = await readFile(join(findCheckout() ?? "", "corpora", "bundled", "tasks.jsonl"), "utf8");
  const tasks = text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Task);
  // Every k-th task, so that a part of them has all kinds and levels.
  const step = 7;
  return Array.from({ length: step }, (_, from) => tasks.filter((_, at) => at % step === from)).flat();
}

async function escalate(gateway: TestGateway, task: Task, ask: EqualityAsk): Promise<Live> {
  const response = await fetch(`${gateway.origin}/v1/chat/completions`, {
    method: "POST",
    headers: {
      // What the target has read itself of a tenant's prompts is taken instead of mapped rows: a transfer that is to be
      // compared with an offline one must not find any.
      authorization: `Bearer ${ask.transfer === "force" ? testKey : otherKey}`,
      // A conversation of its own: one that has escalated before would stay on the target.
      "x-helm-session": randomUUID(),
    },
    body: JSON.stringify({
      model: "helm-auto",
      messages: task.prompt,
      max_tokens: ask.maxTokens,
      temperature: 0,
      return_token_ids: true,
      helm: { transfer: ask.transfer },
    }),
  });
  const body = (await response.json()) as {
    prompt_token_ids: number[];
    choices: { token_ids: number[] }[];
    helm: { decision: string; transfer: string; reason: string };
    error?: { message: string };
  };
  if (!response.ok) throw new Error(`${task.id}: ${body.error?.message}`);
  if (body.helm.decision !== "escalated") throw new Error(`${task.id} was not escalated`);
  return {
    id: task.id,
    prompt: body.prompt_token_ids,
    tokens: body.choices[0]?.token_ids ?? [],
    transferred: body.helm.transfer === "transferred",
    reason: body.helm.reason,
  };
}
