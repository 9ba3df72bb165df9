import type { HelmAnswer } from "@helm/contracts";
import type { Chunk, ChunkChoice } from "../../engine/chunk";
import { AnswerAssembler } from "../../escalation/assemble-answer";
import type { Generation } from "../bodies/generation";
import { type ResponseWriter, streamHeaders } from "./response-writer";

/** Where a routed answer goes. Until something has left, another leg may still take over. */
export interface AnswerSink {
  readonly committed: boolean;
  begin(headers: Record<string, string>): void;
  write(chunk: Chunk): Promise<void>;
  end(headers: Record<string, string>, helm: HelmAnswer): Promise<void>;
  /** Forgets what was written, so that another leg can answer. Only before anything was committed. */
  reset(): void;
}

export function openSink(generation: Generation, writer: ResponseWriter): AnswerSink {
  return generation.stream ? new StreamSink(generation, writer) : new WholeSink(generation, writer);
}

/** Server-sent events. One chunk is held back, so that the last one can carry what only the end knows. */
class StreamSink implements AnswerSink {
  private held: Chunk | null = null;

  constructor(
    private readonly generation: Generation,
    private readonly writer: ResponseWriter,
  ) {}

  get committed(): boolean {
    return this.writer.started;
  }

  begin(headers: Record<string, string>): void {
    this.writer.start(200, { ...headers, ...streamHeaders });
  }

  async write(chunk: Chunk): Promise<void> {
    if (chunk.choices.length === 0 && !this.generation.includeUsage) return;
    const before = this.held;
    this.held = presentChunk(chunk, this.generation);
    if (before) await this.writer.write(event(before));
  }

  async end(_headers: Record<string, string>, helm: HelmAnswer): Promise<void> {
    if (this.held) await this.writer.write(event({ ...this.held, helm }));
    await this.writer.write("data: [DONE]\n\n");
    this.writer.end();
  }

  reset(): void {
    this.held = null;
  }
}

/** One JSON body, written at the very end. */
class WholeSink implements AnswerSink {
  private assembler = new AnswerAssembler();

  constructor(
    private readonly generation: Generation,
    private readonly writer: ResponseWriter,
  ) {}

  get committed(): boolean {
    return this.writer.started;
  }

  begin(): void {}

  async write(chunk: Chunk): Promise<void> {
    this.assembler.add({ ...presentChunk(chunk, this.generation), usage: chunk.usage });
  }

  async end(headers: Record<string, string>, helm: HelmAnswer): Promise<void> {
    await this.writer.json(200, headers, { ...this.assembler.body(), helm });
  }

  reset(): void {
    this.assembler = new AnswerAssembler();
  }
}

function event(chunk: unknown): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** A chunk without what the caller did not ask for and without what is between gateway and engine. */
function presentChunk(chunk: Chunk, generation: Generation): Chunk {
  const { kv_transfer_params, helm_timing, usage, prompt_token_ids, ...rest } = chunk;
  return {
    ...rest,
    choices: chunk.choices.map((choice) => presentChoice(choice, generation)),
    ...(generation.includeUsage && usage !== undefined ? { usage } : {}),
    ...(generation.wantsTokenIds && prompt_token_ids !== undefined ? { prompt_token_ids } : {}),
  };
}

function presentChoice(choice: ChunkChoice, generation: Generation): ChunkChoice {
  const { token_ids, prompt_token_ids, ...rest } = choice;
  return {
    ...rest,
    logprobs: generation.wantsLogprobs ? trimLogprobs(choice.logprobs, generation.topLogprobs) : null,
    ...(generation.wantsTokenIds && token_ids !== undefined ? { token_ids } : {}),
    ...(generation.wantsTokenIds && prompt_token_ids !== undefined ? { prompt_token_ids } : {}),
  };
}

/** The judge may have asked for more of the likeliest tokens than the caller did. */
function trimLogprobs(given: ChunkChoice["logprobs"], most: number): ChunkChoice["logprobs"] {
  if (!given) return given;
  if (given.content)
    return {
      ...given,
      content: given.content.map((entry) =>
        entry.top_logprobs ? { ...entry, top_logprobs: entry.top_logprobs.slice(0, most) } : entry,
      ),
    };
  if (!given.top_logprobs) return given;
  return {
    ...given,
    top_logprobs: given.top_logprobs.map((top, at) => trimTop(top, given.tokens?.[at], most)),
  };
}

/** In completions the answer's own token stands beside the likeliest ones, and first. */
function trimTop(
  top: Record<string, number> | null,
  own: string | undefined,
  most: number,
): Record<string, number> | null {
  if (top === null) return null;
  const likeliest = Object.entries(top).sort(([, a], [, b]) => b - a);
  const kept = new Set(likeliest.slice(0, most).map(([token]) => token));
  return Object.fromEntries(Object.entries(top).filter(([token]) => token === own || kept.has(token)));
}
