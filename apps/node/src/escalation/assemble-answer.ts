import type { Chunk, ChunkChoice } from "../engine/chunk";
import type { JsonBody } from "../engine/engine-client";

/** Puts a streamed answer together to the body that the same call would have brought without streaming. */
export class AnswerAssembler {
  private first: Chunk | null = null;
  private usage: Chunk["usage"] = null;
  private readonly choices = new Map<number, ChunkChoice>();
  private extra: JsonBody = {};

  add(chunk: Chunk): void {
    this.first ??= chunk;
    if (chunk.usage) this.usage = chunk.usage;
    if (chunk.prompt_token_ids !== undefined) this.extra = { prompt_token_ids: chunk.prompt_token_ids };
    for (const part of chunk.choices) {
      const whole = this.choices.get(part.index);
      if (whole) mergeChoice(whole, part);
      else this.choices.set(part.index, structuredClone(part));
    }
  }

  body(): JsonBody {
    if (!this.first) return {};
    const { id, object, created, model, system_fingerprint } = this.first;
    const choices = [...this.choices.values()].sort((a, b) => a.index - b.index).map(wholeChoice);
    return {
      id,
      object: object === "chat.completion.chunk" ? "chat.completion" : object,
      created,
      model,
      choices,
      usage: this.usage,
      system_fingerprint: system_fingerprint ?? null,
      ...this.extra,
    };
  }
}

function wholeChoice(choice: ChunkChoice): JsonBody {
  const { index, delta, text, logprobs, finish_reason, ...rest } = choice;
  const answer = delta
    ? { message: { role: "assistant", content: null, refusal: null, ...wholeDelta(delta) } }
    : { text: text ?? "" };
  return { index, ...answer, logprobs: logprobs ?? null, finish_reason: finish_reason ?? null, ...rest };
}

/** Parts of a stream say by their index which tool call they belong to; a whole answer's calls stand in order. */
function wholeDelta(delta: JsonBody): JsonBody {
  if (!Array.isArray(delta.tool_calls)) return delta;
  const calls = delta.tool_calls.map(({ index: _, ...call }: JsonBody) => call);
  return { ...delta, tool_calls: calls };
}

function mergeChoice(whole: ChunkChoice, part: ChunkChoice): void {
  for (const [key, value] of Object.entries(part)) {
    if (key === "index" || value === null || value === undefined) continue;
    whole[key] = mergeValue(whole[key], value, key);
  }
}

/** Texts grow, lists of indexed parts (tool calls) merge by index, other lists grow, the rest is replaced. */
function mergeValue(before: unknown, value: unknown, key: string): unknown {
  if (before === null || before === undefined) return structuredClone(value);
  if (typeof value === "string" && typeof before === "string")
    return growing.has(key) ? before + value : value;
  if (Array.isArray(value) && Array.isArray(before)) return mergeLists(before, value);
  if (isObject(value) && isObject(before)) {
    const merged: JsonBody = { ...before };
    for (const [name, inner] of Object.entries(value)) {
      if (inner !== null && inner !== undefined) merged[name] = mergeValue(merged[name], inner, name);
    }
    return merged;
  }
  return structuredClone(value);
}

/** Names, roles and ids come whole and may be repeated; only running text is added up. */
const growing = new Set(["content", "text", "reasoning", "reasoning_content", "refusal", "arguments"]);

function mergeLists(before: unknown[], parts: unknown[]): unknown[] {
  const indexed = (item: unknown): item is JsonBody => isObject(item) && typeof item.index === "number";
  if (![...before, ...parts].every(indexed)) return [...before, ...parts];
  const merged = [...before] as JsonBody[];
  for (const part of parts as JsonBody[]) {
    const at = merged.findIndex((item) => item.index === part.index);
    if (at < 0) merged.push(structuredClone(part));
    else merged[at] = mergeValue(merged[at], part, "") as JsonBody;
  }
  return merged;
}

function isObject(value: unknown): value is JsonBody {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
