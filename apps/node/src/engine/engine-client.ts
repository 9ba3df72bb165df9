import type { Dispatcher } from "undici";
import { Pool } from "undici";
import type { z } from "zod";
import { type Chunk, readChunks } from "./chunk";
import { brokenOff, EngineError, saidCode, toEngineError } from "./engine-error";
import { EngineMemory, type EngineModel, EngineModelList, Tokenized } from "./engine-facts";
import { type ByteSink, passThrough } from "./pass-through";

export type EngineAddress = { socketPath: string } | { origin: string };
export type Endpoint = "/v1/chat/completions" | "/v1/completions";
export type JsonBody = Record<string, unknown>;

export interface CallLimits {
  signal?: AbortSignal;
  /** Until the engine starts to answer. */
  headersMs?: number;
  /** Between two pieces of an answer. */
  idleMs?: number;
}

/** An engine's own words, not yet read. */
interface RawAnswer {
  status: number;
  contentType: string;
  body: Dispatcher.ResponseData["body"];
}

const LONG_ANSWER_MS = 600_000;
const SHORT_CALL_MS = 10_000;
const ANSWER_CONNECTIONS = 1_024;
const CALL_CONNECTIONS = 64;

/** The engine's HTTP door. Every failure is an EngineError. */
export class EngineClient {
  private readonly pool: Pool;
  /** What must not stand in line behind answers: health, memory, counting. */
  private readonly calls: Pool;

  constructor(address: EngineAddress) {
    const limits = { headersTimeout: LONG_ANSWER_MS, bodyTimeout: LONG_ANSWER_MS };
    const open = (connections: number) =>
      "socketPath" in address
        ? new Pool("http://engine", { ...limits, connections, socketPath: address.socketPath })
        : new Pool(address.origin, { ...limits, connections });
    this.pool = open(ANSWER_CONNECTIONS);
    this.calls = open(CALL_CONNECTIONS);
  }

  async close(): Promise<void> {
    await Promise.all([this.pool.destroy(), this.calls.destroy()]);
  }

  async healthy(): Promise<boolean> {
    try {
      const answer = await this.send("GET", "/health", undefined, { headersMs: 2_000 });
      await answer.body.dump();
      return answer.status === 200;
    } catch {
      return false;
    }
  }

  async models(): Promise<EngineModel[]> {
    return (await this.json(EngineModelList, "GET", "/v1/models")).data;
  }

  memory(): Promise<EngineMemory> {
    return this.json(EngineMemory, "GET", "/helm/memory");
  }

  tokenize(body: JsonBody, limits: CallLimits = {}): Promise<Tokenized> {
    return this.json(Tokenized, "POST", "/tokenize", body, limits);
  }

  /** Reads a mapper into memory; throws EngineError 422 whose code is a fallback reason. */
  async loadMapper(sha256: string): Promise<void> {
    const answer = await this.send("PUT", `/helm/mappers/${sha256}`, undefined, { headersMs: 120_000 });
    await refuseErrors(answer);
    await answer.body.dump();
  }

  async dropMapper(sha256: string): Promise<void> {
    const answer = await this.send("DELETE", `/helm/mappers/${sha256}`);
    await answer.body.dump();
  }

  /** A whole answer, read to its end. */
  async complete(endpoint: Endpoint, body: JsonBody, limits: CallLimits = {}): Promise<JsonBody> {
    const answer = await this.send("POST", endpoint, body, limits);
    await refuseErrors(answer);
    return (await readJson(answer.body)) as JsonBody;
  }

  /** An answer as chunks; resolves once the engine begins to stream. */
  async stream(endpoint: Endpoint, body: JsonBody, limits: CallLimits = {}): Promise<AsyncGenerator<Chunk>> {
    const answer = await this.send("POST", endpoint, { ...body, stream: true }, limits);
    await refuseErrors(answer);
    return translateErrors(readChunks(answer.body));
  }

  /** An answer as the engine gives it, errors included, into a sink. */
  pass(endpoint: Endpoint, body: JsonBody, sink: ByteSink, limits: CallLimits & { signal: AbortSignal }) {
    return passThrough(this.pool, requestOf("POST", endpoint, body, limits), sink, limits.signal);
  }

  private async json<T extends z.ZodType>(
    schema: T,
    method: "GET" | "POST",
    path: string,
    body?: JsonBody,
    limits: CallLimits = {},
  ): Promise<z.infer<T>> {
    const answer = await this.send(method, path, body, { headersMs: SHORT_CALL_MS, ...limits });
    await refuseErrors(answer);
    const parsed = schema.safeParse(await readJson(answer.body));
    if (!parsed.success) {
      throw new EngineError({ kind: "broken" }, `the engine's ${path} is not what it should be`, {
        cause: parsed.error,
      });
    }
    return parsed.data;
  }

  private async send(
    method: "GET" | "POST" | "PUT" | "DELETE",
    path: string,
    body?: JsonBody,
    limits: CallLimits = {},
  ): Promise<RawAnswer> {
    try {
      const pool = path.endsWith("completions") ? this.pool : this.calls;
      const answer = await pool.request({
        ...requestOf(method, path, body, limits),
        signal: limits.signal ?? null,
      });
      const type = answer.headers["content-type"];
      return {
        status: answer.statusCode,
        contentType: (Array.isArray(type) ? type[0] : type) ?? "application/json",
        body: answer.body,
      };
    } catch (error) {
      throw toEngineError(error);
    }
  }
}

function requestOf(
  method: Dispatcher.HttpMethod,
  path: string,
  body: JsonBody | undefined,
  limits: CallLimits,
): Dispatcher.DispatchOptions {
  return {
    method,
    path,
    headers: body ? { "content-type": "application/json" } : {},
    body: body ? JSON.stringify(body) : null,
    headersTimeout: limits.headersMs ?? LONG_ANSWER_MS,
    bodyTimeout: limits.idleMs ?? LONG_ANSWER_MS,
  };
}

async function* translateErrors(chunks: AsyncGenerator<Chunk>): AsyncGenerator<Chunk> {
  try {
    yield* chunks;
  } catch (error) {
    throw brokenOff(error);
  }
}

async function readJson(body: RawAnswer["body"]): Promise<unknown> {
  try {
    return await body.json();
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new EngineError({ kind: "broken" }, "the engine's answer is not JSON", { cause: error });
    }
    throw brokenOff(error);
  }
}

async function refuseErrors(answer: RawAnswer): Promise<void> {
  if (answer.status < 400) return;
  const text = await answer.body.text().catch(() => "");
  let body: unknown = text;
  try {
    body = JSON.parse(text);
  } catch {
    // Kept as text: an engine that cannot write JSON is reported with what it did write.
  }
  throw new EngineError(
    { kind: "http", status: answer.status, body },
    `the engine answered ${answer.status}${saidCode(body)}`,
  );
}
