import type { Readable } from "node:stream";
import { Agent, type Dispatcher, request } from "undici";
import type { z } from "zod";

/** An answer of the control plane that was not a success, or none at all (`status` 0). */
export class HostRequestError extends Error {
  readonly details: Record<string, unknown>;
  constructor(
    readonly status: number,
    readonly code: string | null,
    message: string,
    options?: { cause?: unknown; details?: Record<string, unknown> },
  ) {
    super(message, options);
    this.details = options?.details ?? {};
    this.name = "HostRequestError";
  }
  /** Worth asking again later: the control plane is away, busy or broken, and has refused nothing. */
  get retriable(): boolean {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

export interface HostClientOptions {
  controlUrl: string;
  credential?: string;
  timeoutMs?: number;
}

interface Call {
  json?: unknown;
  body?: Readable;
  headers?: Record<string, string>;
}

/** HTTP to the control plane with this host's credential. */
export class HostClient {
  private readonly agent: Agent;
  constructor(private readonly options: HostClientOptions) {
    const timeout = options.timeoutMs ?? 15_000;
    this.agent = new Agent({ connect: { timeout }, headersTimeout: timeout, bodyTimeout: timeout });
  }

  get controlUrl(): string {
    return this.options.controlUrl;
  }

  /** The parsed answer, or null for 204. Errors: HostRequestError. */
  async call<T extends z.ZodType>(
    method: Dispatcher.HttpMethod,
    path: string,
    schema: T,
    call: Call = {},
  ): Promise<z.infer<T> | null> {
    const response = await this.open(method, path, call);
    if (response.statusCode === 204) {
      await response.body.dump();
      return null;
    }
    const text = await response.body.text();
    const parsed = schema.safeParse(safeJson(text));
    if (!parsed.success) {
      const message = `The control plane's answer to ${method} ${path} is not what the protocol says.`;
      throw new HostRequestError(502, "PROTOCOL", message, { cause: parsed.error });
    }
    return parsed.data;
  }

  /** The open response of a success. Errors: HostRequestError, with the body's code where it has one. */
  async open(method: Dispatcher.HttpMethod, path: string, call: Call = {}): Promise<Dispatcher.ResponseData> {
    const headers: Record<string, string> = { accept: "application/json", ...call.headers };
    if (this.options.credential) headers.authorization = `Bearer ${this.options.credential}`;
    if (call.json !== undefined) headers["content-type"] = "application/json";
    let response: Dispatcher.ResponseData;
    try {
      response = await request(new URL(path, this.options.controlUrl), {
        method,
        headers,
        body: call.json !== undefined ? JSON.stringify(call.json) : (call.body ?? null),
        dispatcher: this.agent,
      });
    } catch (cause) {
      throw new HostRequestError(
        0,
        null,
        `The control plane at ${this.options.controlUrl} cannot be reached.`,
        { cause },
      );
    }
    if (response.statusCode < 400) return response;
    const body = safeJson(await response.body.text().catch(() => ""));
    const { code, message, details } = errorIn(body);
    throw new HostRequestError(
      response.statusCode,
      code,
      message ?? `${method} ${path} was answered ${response.statusCode}.`,
      { details },
    );
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

interface ErrorBody {
  code: string | null;
  message: string | null;
  details: Record<string, unknown>;
}

/** Errors come as {error: {code, message, details}} or {code, message}. */
function errorIn(body: unknown): ErrorBody {
  if (!isRecord(body)) return { code: null, message: null, details: {} };
  const inner = isRecord(body.error) ? body.error : body;
  const text = (value: unknown) => (typeof value === "string" ? value : null);
  return {
    code: text(inner.code),
    message: text(inner.userMessage) ?? text(inner.message),
    details: isRecord(inner.details) ? inner.details : {},
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
