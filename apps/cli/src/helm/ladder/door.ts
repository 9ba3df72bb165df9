import { ExitCode, GatewayHeader } from "@helm/contracts";
import { createParser } from "eventsource-parser";
import { Agent, type Dispatcher, request } from "undici";
import { z } from "zod";
import { Failure } from "../../failure";

/** What one request came to. Times in ms from its sending. */
export type Answer =
  | {
      kind: "complete";
      text: string;
      tokens: number;
      firstTokenMs: number;
      totalMs: number;
      servedBy: string | null;
      development: boolean;
    }
  | { kind: "refused"; status: number; code: string; message: string; shortfallBytes: number | null }
  | { kind: "failed"; typed: boolean; message: string };

const Typed = z.object({
  error: z.object({
    message: z.string(),
    type: z.string().min(1),
    code: z.string().min(1),
    helm: z.object({ shortfall_bytes: z.number().int().min(0).optional() }).nullish(),
  }),
});
const Chunk = z.looseObject({
  choices: z.array(
    z.looseObject({
      delta: z.looseObject({ content: z.string().nullish() }).nullish(),
      finish_reason: z.string().nullish(),
    }),
  ),
  usage: z.looseObject({ completion_tokens: z.number().int() }).nullish(),
});
const Models = z.object({
  data: z.array(z.looseObject({ id: z.string(), helm: z.looseObject({ pilot: z.string() }).nullish() })),
});
/** Statuses of a door that has no room, said before anything was started. */
const NO_ROOM = new Set([413, 429, 503]);
const SHORT_MS = 10_000;

/** A node's gateway as a client sees it: one connection for each request that runs. */
export class Door {
  private readonly agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 30_000 } });

  constructor(
    private readonly url: string,
    private readonly key: string,
    private readonly timeoutMs: number,
    private readonly signal: AbortSignal,
  ) {}

  close(): Promise<void> {
    return this.agent.destroy();
  }

  /** What is served. Errors: Failure 1 where nobody answers, or the key is none. */
  async models(): Promise<{ id: string; pilot: string | null }[]> {
    const { status, text } = await this.short("/v1/models");
    if (status === 401)
      throw new Failure(
        1,
        "KEY_REFUSED",
        "The gateway does not know this API key. Make one with lifeboat helm key create, and set LIFEBOAT_API_KEY.",
      );
    const parsed = Models.safeParse(json(text));
    if (status !== 200 || !parsed.success)
      throw new Failure(1, "GATEWAY_NOT_READY", `${this.url} does not list its models (status ${status}).`);
    return parsed.data.data.map(({ id, helm }) => ({ id, pilot: helm?.pilot ?? null }));
  }

  async engineName(): Promise<string | null> {
    const { text } = await this.short("/health");
    return z.object({ engine: z.string().nullable() }).safeParse(json(text)).data?.engine ?? null;
  }

  /** Resident bytes of the gateway's process; null where its metrics are closed or do not say. */
  async memoryBytes(): Promise<number | null> {
    const token = process.env.HELM_METRICS_TOKEN;
    const answer = await this.short("/metrics", token).catch(() => null);
    const line = answer?.status === 200 ? /^process_resident_memory_bytes (\S+)$/m.exec(answer.text) : null;
    const value = Number(line?.[1]);
    return line && Number.isFinite(value) ? value : null;
  }

  /** One streamed chat answer. Never throws but for the caller's own interruption. */
  async ask(model: string, prompt: string, maxTokens: number): Promise<Answer> {
    const started = performance.now();
    const late = AbortSignal.timeout(this.timeoutMs);
    try {
      const response = await request(`${this.url}/v1/chat/completions`, {
        method: "POST",
        dispatcher: this.agent,
        signal: AbortSignal.any([this.signal, late]),
        headers: { "content-type": "application/json", authorization: `Bearer ${this.key}` },
        body: JSON.stringify({
          model,
          messages: [{ role: "user", content: prompt }],
          max_tokens: maxTokens,
          temperature: 0,
          stream: true,
          stream_options: { include_usage: true },
        }),
      });
      if (response.statusCode !== 200) return turnedAway(response.statusCode, await response.body.text());
      return await readStream(response, started);
    } catch (error) {
      if (this.signal.aborted) throw error;
      const why = late.aborted ? `no answer within ${this.timeoutMs / 1000} s` : sentenceOf(error);
      return { kind: "failed", typed: false, message: why };
    }
  }

  private async short(path: string, bearer = this.key): Promise<{ status: number; text: string }> {
    try {
      const response = await request(`${this.url}${path}`, {
        dispatcher: this.agent,
        signal: AbortSignal.any([this.signal, AbortSignal.timeout(SHORT_MS)]),
        headers: { authorization: `Bearer ${bearer}` },
      });
      return { status: response.statusCode, text: await response.body.text() };
    } catch (error) {
      if (this.signal.aborted) throw error;
      throw new Failure(
        ExitCode.unreadable,
        "GATEWAY_UNREACHABLE",
        `${this.url} does not answer (${sentenceOf(error)}). Name a node's gateway with --gateway.`,
      );
    }
  }
}

async function readStream(response: Dispatcher.ResponseData, started: number): Promise<Answer> {
  let text = "";
  let pieces = 0;
  let tokens: number | null = null;
  let firstTokenMs: number | null = null;
  let finished = false;
  let ended = false;
  let broken: string | null = null;
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data === "[DONE]") {
        ended = true;
        return;
      }
      const chunk = Chunk.safeParse(json(data));
      if (!chunk.success) {
        broken = data.slice(0, 200);
        return;
      }
      tokens = chunk.data.usage?.completion_tokens ?? tokens;
      for (const { delta, finish_reason } of chunk.data.choices) {
        if (delta?.content) {
          firstTokenMs ??= performance.now() - started;
          text += delta.content;
          pieces += 1;
        }
        if (finish_reason) finished = true;
      }
    },
  });
  const decoder = new TextDecoder();
  for await (const part of response.body) parser.feed(decoder.decode(part as Uint8Array, { stream: true }));
  const totalMs = performance.now() - started;
  if (broken !== null) {
    const typed = Typed.safeParse(json(broken)).success;
    return { kind: "failed", typed, message: `the stream broke off: ${broken}` };
  }
  if (!ended || !finished)
    return { kind: "failed", typed: false, message: "the stream ended without its end mark" };
  const header = (name: string) => {
    const value = response.headers[name];
    return typeof value === "string" ? value : null;
  };
  return {
    kind: "complete",
    text,
    tokens: tokens ?? pieces,
    // An answer may be empty: then its end is its first sign.
    firstTokenMs: firstTokenMs ?? totalMs,
    totalMs,
    servedBy: header(GatewayHeader.servedBy),
    development: header(GatewayHeader.mode) === "development",
  };
}

function turnedAway(status: number, body: string): Answer {
  const typed = Typed.safeParse(json(body));
  if (!typed.success)
    return { kind: "failed", typed: false, message: `status ${status}: ${body.slice(0, 200)}` };
  const { code, message, helm } = typed.data.error;
  if (!NO_ROOM.has(status))
    return { kind: "failed", typed: true, message: `status ${status}, ${code}: ${message}` };
  return { kind: "refused", status, code, message, shortfallBytes: helm?.shortfall_bytes ?? null };
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sentenceOf(error: unknown): string {
  const found = error as NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException };
  return found.code ?? found.cause?.code ?? found.message ?? String(error);
}
