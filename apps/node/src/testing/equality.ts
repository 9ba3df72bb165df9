import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { findCheckout } from "@helm/host";
import type { Decoded, RealEngine } from "./real-engine";
import { type TestGateway, testKey } from "./test-gateway";

/** Below this gap of an offline decode's two best logits, float noise may decide. */
export const NEAR_TIE = 1e-4;

export interface EqualityCounts {
  prompts: number;
  transferred: number;
  equal: number;
  /** Differing only from a position on where the offline decode's margin is below NEAR_TIE. */
  nearTies: number;
  different: { id: string; position: number; margin: number | null }[];
}

interface Live {
  id: string;
  prompt: number[];
  tokens: number[];
  transferred: boolean;
}

const ATONCE = 8;

/**
 * Asks the gateway for escalated answers, greedily, and compares each with an offline decode: from the same transferred
 * cache where the answer was transferred, of the target alone where it fell back.
 */
export async function compareWithOffline(
  gateway: TestGateway,
  engine: RealEngine,
  ask: { prompts: number; maxTokens: number; transfer: "force" | "off" },
): Promise<EqualityCounts> {
  const tasks = (await readTasks()).slice(0, ask.prompts);
  const live: Live[] = [];
  for (let at = 0; at < tasks.length; at += ATONCE) {
    const group = tasks.slice(at, at + ATONCE);
    live.push(...(await Promise.all(group.map((task) => escalate(gateway, task, ask)))));
  }
  const counts: EqualityCounts = {
    prompts: live.length,
    transferred: live.filter((answer) => answer.transferred).length,
    equal: 0,
    nearTies: 0,
    different: [],
  };
  for (const transferred of [true, false]) {
    const answers = live.filter((answer) => answer.transferred === transferred);
    if (answers.length === 0) continue;
    const prompts = answers.map((answer) => ({ id: answer.id, tokens: answer.prompt }));
    const offline = new Map(
      (await engine.decode(prompts, ask.maxTokens, !transferred)).map((one) => [one.id, one]),
    );
    for (const answer of answers) compare(answer, offline.get(answer.id), counts);
  }
  return counts;
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

async function escalate(
  gateway: TestGateway,
  task: Task,
  ask: { maxTokens: number; transfer: "force" | "off" },
): Promise<Live> {
  const response = await fetch(`${gateway.origin}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${testKey}` },
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
    helm: { decision: string; transfer: string };
    error?: { message: string };
  };
  if (!response.ok) throw new Error(`${task.id}: ${body.error?.message}`);
  if (body.helm.decision !== "escalated") throw new Error(`${task.id} was not escalated`);
  return {
    id: task.id,
    prompt: body.prompt_token_ids,
    tokens: body.choices[0]?.token_ids ?? [],
    transferred: body.helm.transfer === "transferred",
  };
}
