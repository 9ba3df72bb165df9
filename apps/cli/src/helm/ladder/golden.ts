import type { Ladder } from "@helm/contracts";
import { Failure } from "../../failure";
import type { Answer, Door } from "./door";
import { quantiles } from "./quantiles";

export interface Golden {
  /** What the model answers to each prompt when it is asked alone. */
  texts: string[];
  alone: Ladder["alone"];
  servedBy: string | null;
  development: boolean;
}

type Complete = Extract<Answer, { kind: "complete" }>;

/**
 * Every prompt twice, one request at a time: the first time warms up, both must say the same.
 * Errors: Failure GOLDEN_REFUSED, GOLDEN_UNSTABLE.
 */
export async function takeGolden(
  door: Door,
  model: string,
  prompts: string[],
  maxTokens: number,
): Promise<Golden> {
  const texts: string[] = [];
  const timed: Complete[] = [];
  for (const prompt of prompts) {
    const first = await complete(door, model, prompt, maxTokens);
    const second = await complete(door, model, prompt, maxTokens);
    if (first.text !== second.text) throw unstable(model, prompt);
    texts.push(second.text);
    timed.push(second);
  }
  const middle = (values: number[]) => quantiles(values)?.p50 ?? 0;
  return {
    texts,
    alone: {
      first_token_ms: middle(timed.map((one) => one.firstTokenMs)),
      total_ms: middle(timed.map((one) => one.totalMs)),
      itl_ms: quantiles(timed.flatMap((one) => itlOf(one) ?? []))?.p50 ?? null,
    },
    servedBy: timed[0]?.servedBy ?? null,
    development: timed.some((one) => one.development),
  };
}

/** Mean gap between the tokens of an answer in ms; null of an answer with fewer than two. */
export function itlOf({ tokens, firstTokenMs, totalMs }: Complete): number | null {
  return tokens < 2 ? null : (totalMs - firstTokenMs) / (tokens - 1);
}

async function complete(door: Door, model: string, prompt: string, maxTokens: number): Promise<Complete> {
  const answer = await door.ask(model, prompt, maxTokens);
  if (answer.kind === "complete") return answer;
  throw new Failure(
    1,
    "GOLDEN_REFUSED",
    `${model} gave no answer when it was asked alone: ${answer.message}`,
  );
}

function unstable(model: string, prompt: string): Failure {
  const short = prompt.length > 40 ? `${prompt.slice(0, 40)}…` : prompt;
  return new Failure(
    1,
    "GOLDEN_UNSTABLE",
    `${model} answers "${short}" differently when it is asked alone twice, so no answer under load can be checked. Leave that prompt out with --prompts.`,
  );
}
