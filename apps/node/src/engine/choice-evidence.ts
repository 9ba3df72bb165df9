import type { EvidenceToken } from "@helm/cascade";
import type { ChatLogprob, ChunkChoice } from "./chunk";

/**
 * What a chunk tells the judge of one answer. Text without log-probabilities is a gap in the evidence: a token with
 * none.
 */
export function choiceEvidence(choice: ChunkChoice): EvidenceToken[] {
  const part = partOf(choice);
  const chat = choice.logprobs?.content;
  if (chat && chat.length > 0)
    return chat.map((entry) => ({
      text: typeof entry.token === "string" ? entry.token : "",
      logprob: entry.logprob,
      margin: marginOf(chatAlternatives(entry)),
      part,
    }));
  const plain = choice.logprobs?.token_logprobs;
  if (plain && plain.length > 0)
    return plain.map((logprob, at) => ({
      text: String(choice.logprobs?.tokens?.[at] ?? ""),
      logprob,
      margin: marginOf(Object.values(choice.logprobs?.top_logprobs?.[at] ?? {})),
      part,
    }));
  const text = choice.text ?? choice.delta?.content;
  return typeof text === "string" && text.length > 0 ? [{ text, logprob: null, margin: null, part }] : [];
}

function partOf({ delta }: ChunkChoice): EvidenceToken["part"] {
  if (delta?.tool_calls) return "tool_call";
  return delta?.reasoning_content || delta?.reasoning ? "thinking" : "answer";
}

function chatAlternatives({ top_logprobs }: ChatLogprob): number[] {
  return (top_logprobs ?? []).flatMap(({ logprob }) => (logprob === null ? [] : [logprob]));
}

/** The lead of the likeliest token over the next, of at least two. */
function marginOf(logprobs: readonly number[]): number | null {
  const [first, second] = [...logprobs].sort((a, b) => b - a);
  return first === undefined || second === undefined || !Number.isFinite(first - second)
    ? null
    : first - second;
}
