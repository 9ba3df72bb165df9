import type { JudgeRow, ServedJudge } from "@helm/contracts";
import type { AnswerEvidence, EvidenceToken } from "./evidence";

export function tokenOf(logprob: number | null, text = "word ", margin: number | null = 1): EvidenceToken {
  return { text, logprob, margin, part: "answer" };
}

export function answerOf(
  logprobs: readonly (number | null)[],
  given: { text?: string; margin?: number | null; finish?: string | null; wantsJson?: boolean } = {},
): AnswerEvidence {
  const { text, margin = 1, finish = "stop", wantsJson = false } = given;
  return { tokens: logprobs.map((logprob) => tokenOf(logprob, text, margin)), finish, wantsJson };
}

/** A judge that reads the mean log-probability alone: less sure, likelier to differ. */
export function servedJudge(over: Partial<ServedJudge> = {}): ServedJudge {
  return {
    version: "logistic-1",
    streaming: "buffer",
    window: null,
    label: "target_differs",
    features: [{ name: "mean_logprob", mean: -1, scale: 1, weight: -2 }],
    bias: 0,
    knots: [
      { score: -4, probability: 0.05 },
      { score: 0, probability: 0.5 },
      { score: 4, probability: 0.95 },
    ],
    sha256: "0".repeat(64),
    threshold: 0.5,
    ...over,
  };
}

/** Labelled answers of which a share is hard: less sure by `lead` nats, and more often not what the target says. */
export function labelledAnswers(count: number, lead: number, seed = 1): JudgeRow[] {
  const random = mulberry(seed);
  return Array.from({ length: count }, (_, i) => {
    const hard = random() < 0.4;
    const size = 3 + Math.floor(random() * 20);
    const logprobs = Array.from({ length: size }, () => -(random() * 0.5 + (hard ? lead * random() : 0)));
    const differs = random() < (hard ? 0.8 : 0.1);
    return {
      id: `row-${String(i).padStart(6, "0")}`,
      group: `group-${i}`,
      domain: "chat",
      tokens: logprobs.map((_, at) => `word${at} `),
      logprobs,
      margins: logprobs.map((logprob) => Math.max(0, 2 + logprob)),
      finish: size < 20 ? ("stop" as const) : ("length" as const),
      differs,
      quality: { pilot: differs ? 0 : 1, target: 1 },
    };
  });
}

/** Numbers in [0, 1) that follow from the seed. */
export function mulberry(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
