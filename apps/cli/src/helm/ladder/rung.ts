import type { LadderRung } from "@helm/contracts";
import type { Answer, Door } from "./door";
import { type Golden, itlOf } from "./golden";
import { quantiles } from "./quantiles";

/** A rung of few clients asks at least so many requests, one after another, so that its quantiles say something. */
const LEAST_REQUESTS = 32;
const MEMORY_EVERY_MS = 1_000;

export interface RungPlan {
  model: string;
  prompts: string[];
  maxTokens: number;
  golden: Golden;
  /** Called after each answer. */
  answered: (done: number, of: number) => void;
}

export interface RungFound {
  rung: Omit<LadderRung, "broke">;
  /** The first failure that nobody typed, and the first corrupted prompt, for the sentence about it. */
  untyped: string | null;
  corruptedPrompt: string | null;
}

/** `clients` at once, each asking again as soon as it was answered, until every request of the rung was sent. */
export async function runRung(door: Door, clients: number, plan: RungPlan): Promise<RungFound> {
  const of = Math.max(clients, LEAST_REQUESTS);
  const answers: { answer: Answer; prompt: number }[] = [];
  let sent = 0;
  const memory = watchMemory(door);
  const started = performance.now();
  const client = async () => {
    while (sent < of) {
      const prompt = sent % plan.prompts.length;
      sent += 1;
      const answer = await door.ask(plan.model, plan.prompts[prompt] ?? "", plan.maxTokens);
      answers.push({ answer, prompt });
      plan.answered(answers.length, of);
    }
  };
  try {
    await Promise.all(Array.from({ length: clients }, client));
  } finally {
    memory.stop();
  }
  const seconds = (performance.now() - started) / 1000;
  return count(clients, answers, plan, seconds, await memory.highest());
}

function count(
  clients: number,
  answers: { answer: Answer; prompt: number }[],
  { golden, prompts }: RungPlan,
  seconds: number,
  memoryBytes: number | null,
): RungFound {
  const right = answers.flatMap(({ answer, prompt }) =>
    answer.kind === "complete" && answer.text === golden.texts[prompt] ? [answer] : [],
  );
  const wrong = answers.filter(
    ({ answer, prompt }) => answer.kind === "complete" && answer.text !== golden.texts[prompt],
  );
  const refused = answers.flatMap(({ answer }) => (answer.kind === "refused" ? [answer] : []));
  const failed = answers.flatMap(({ answer }) => (answer.kind === "failed" ? [answer] : []));
  const gaps = refused.flatMap(({ shortfallBytes }) => shortfallBytes ?? []);
  return {
    rung: {
      clients,
      requests: answers.length,
      correct: right.length,
      corrupted: wrong.length,
      refused: refused.length,
      failed: failed.length,
      seconds,
      output_tokens: right.reduce((sum, { tokens }) => sum + tokens, 0),
      first_token_ms: quantiles(right.map(({ firstTokenMs }) => firstTokenMs)),
      total_ms: quantiles(right.map(({ totalMs }) => totalMs)),
      itl_ms: quantiles(right.flatMap((answer) => itlOf(answer) ?? [])),
      memory_bytes: memoryBytes,
      shortfall_bytes: gaps.length > 0 ? Math.max(...gaps) : null,
    },
    untyped: failed.find(({ typed }) => !typed)?.message ?? null,
    corruptedPrompt: wrong[0] ? (prompts[wrong[0].prompt] ?? null) : null,
  };
}

function watchMemory(door: Door): { stop: () => void; highest: () => Promise<number | null> } {
  let highest: number | null = null;
  const look = async () => {
    const bytes = await door.memoryBytes().catch(() => null);
    if (bytes !== null) highest = Math.max(highest ?? 0, bytes);
  };
  const timer = setInterval(() => void look(), MEMORY_EVERY_MS);
  return {
    stop: () => clearInterval(timer),
    highest: async () => {
      await look();
      return highest;
    },
  };
}
