/** What can go wrong between the gateway and its engine. */
export type EngineFailure =
  /** The engine answered with an error status; `body` is what it said. */
  | { kind: "http"; status: number; body: unknown }
  /** Nobody answered at the socket, or the connection broke before an answer began. */
  | { kind: "unreachable" }
  /** An answer began and did not end as answers do. */
  | { kind: "broken" }
  | { kind: "timeout" }
  /** We gave the request up ourselves: its client went away, or another leg took over. */
  | { kind: "aborted" };

export class EngineError extends Error {
  /** No property that a log would write out: what an engine says of a request may quote its prompt. */
  readonly #failure: EngineFailure;

  constructor(failure: EngineFailure, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "EngineError";
    this.#failure = failure;
  }

  get failure(): EngineFailure {
    return this.#failure;
  }

  /** The engine found fault with the request itself; asking again natively would end the same way. */
  get isRefusal(): boolean {
    return this.failure.kind === "http" && this.failure.status >= 400 && this.failure.status < 500;
  }
}

export function isEngineError(error: unknown): error is EngineError {
  return error instanceof EngineError;
}

export function toEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  const { name, code } = error as { name?: string; code?: string };
  if (name === "AbortError" || code === "UND_ERR_ABORTED") {
    return new EngineError({ kind: "aborted" }, "the request was given up", { cause: error });
  }
  if (name === "TimeoutError" || code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") {
    return new EngineError({ kind: "timeout" }, "the engine did not answer in time", { cause: error });
  }
  return new EngineError({ kind: "unreachable" }, "the engine could not be reached", { cause: error });
}

/** An error met while an answer was under way: an engine that went away then broke its answer off. */
export function brokenOff(error: unknown): EngineError {
  const translated = toEngineError(error);
  if (translated.failure.kind !== "unreachable") return translated;
  return new EngineError({ kind: "broken" }, "the engine went away while it answered", { cause: error });
}

/** Of an error's words only the code goes into a message, and with it into logs. */
export function saidCode(body: unknown): string {
  const code = (body as { error?: { code?: unknown } | null } | null)?.error?.code;
  return typeof code === "string" || typeof code === "number" ? ` ${String(code).slice(0, 80)}` : "";
}
