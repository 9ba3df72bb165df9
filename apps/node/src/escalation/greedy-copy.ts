import { choiceEvidence } from "../engine/choice-evidence";
import type { Endpoint, EngineClient, JsonBody } from "../engine/engine-client";
import { Leg } from "./leg";
import { answerBody, type LineKey } from "./leg-body";

/** As many tokens of each answer as a calibration compares. */
export const COPY_TOKENS = 64;

export interface CopyAsk {
  endpoint: Endpoint;
  /** The caller's own request. */
  caller: JsonBody;
  model: string;
  line: LineKey;
  maxTokens: number;
  signal: AbortSignal;
  limitMs: number;
  /** Told of the call when it begins. */
  began: (leg: Leg) => void;
}

/** What a model says to a request at temperature 0, token by token. */
export interface GreedyCopy {
  tokens: number[];
  /** Mean log-likelihood of its own answer, in nats a token; null where the engine did not say. */
  meanLoglik: number | null;
  firstTokenMs: number | null;
}

const notInCopies = ["stream", "stream_options", "best_of", "seed", "top_logprobs", "max_completion_tokens"];

/** Asks for the copy. Throws EngineError. Null where the engine gives no token ids: then nothing can be compared. */
export async function askGreedyCopy(client: EngineClient, ask: CopyAsk): Promise<GreedyCopy | null> {
  const caller: JsonBody = { ...ask.caller, temperature: 0, n: 1, max_tokens: ask.maxTokens };
  for (const field of notInCopies) delete caller[field];
  const body = answerBody(caller, ask.model, ask.line);
  const chat = ask.endpoint === "/v1/chat/completions";
  const asked = { ...body, return_token_ids: true, logprobs: chat ? true : 0 };
  const limits = { signal: ask.signal, firstTokenMs: ask.limitMs, idleMs: ask.limitMs };
  const leg = await Leg.open(client, ask.endpoint, asked, limits);
  ask.began(leg);
  try {
    const tokens: number[] = [];
    const logprobs: (number | null)[] = [];
    for (let chunk = await leg.next(); chunk !== null; chunk = await leg.next()) {
      for (const choice of chunk.choices) {
        tokens.push(...(choice.token_ids ?? []));
        logprobs.push(...choiceEvidence(choice).map(({ logprob }) => logprob));
      }
    }
    if (tokens.length === 0) return null;
    return { tokens, meanLoglik: meanOf(logprobs), firstTokenMs: leg.firstTokenMs };
  } finally {
    leg.cancel();
  }
}

/** Live agreement: positions that agree up to and including the first difference. It is not retention. */
export function compareCopies(first: readonly number[], second: readonly number[]) {
  const longer = Math.max(first.length, second.length);
  let agreed = 0;
  while (agreed < longer && first[agreed] === second[agreed]) agreed += 1;
  return { agreed, compared: Math.min(longer, agreed + 1) };
}

function meanOf(logprobs: readonly (number | null)[]): number | null {
  const known = logprobs.filter((value) => value !== null && Number.isFinite(value)) as number[];
  if (known.length === 0 || known.length < logprobs.length) return null;
  return known.reduce((sum, value) => sum + value, 0) / known.length;
}
