import { createParser } from "eventsource-parser";
import { EngineError, saidCode } from "./engine-error";

/** One token's entry in a chat answer's log-probabilities. */
export interface ChatLogprob {
  token?: string;
  logprob: number | null;
  top_logprobs?: { logprob: number | null }[];
  [key: string]: unknown;
}

export interface ChunkChoice {
  index: number;
  delta?: Record<string, unknown>;
  text?: string;
  logprobs?: {
    content?: ChatLogprob[] | null;
    token_logprobs?: (number | null)[];
    tokens?: string[];
    top_logprobs?: (Record<string, number> | null)[] | null;
    [key: string]: unknown;
  } | null;
  finish_reason?: string | null;
  token_ids?: number[] | null;
  [key: string]: unknown;
}

/** One streamed object of an engine's answer. */
export interface Chunk {
  id: string;
  object: string;
  created: number;
  model: string;
  choices: ChunkChoice[];
  usage?: Record<string, unknown> | null;
  kv_transfer_params?: unknown;
  helm_timing?: unknown;
  [key: string]: unknown;
}

/** Reads server-sent events to their end mark. Throws EngineError `broken` where the mark is missing. */
export async function* readChunks(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Chunk, void, undefined> {
  const ready: string[] = [];
  const parser = createParser({ onEvent: (event) => ready.push(event.data) });
  const decoder = new TextDecoder();
  for await (const part of bytes) {
    parser.feed(decoder.decode(part, { stream: true }));
    for (let data = ready.shift(); data !== undefined; data = ready.shift()) {
      if (data === "[DONE]") return;
      yield parseChunk(data);
    }
  }
  throw new EngineError({ kind: "broken" }, "the engine's stream ended without its end mark");
}

function parseChunk(data: string): Chunk {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch (cause) {
    throw new EngineError({ kind: "broken" }, "the engine streamed something that is not JSON", { cause });
  }
  if (typeof value !== "object" || value === null || !Array.isArray((value as Chunk).choices)) {
    throw new EngineError({ kind: "broken" }, `the engine ended its stream with an error${saidCode(value)}`);
  }
  return value as Chunk;
}
