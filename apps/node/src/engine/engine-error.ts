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
  constructor(
    readonly failure: EngineFailure,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = "EngineError";
  }

  /** The engine found fault with the request itself; asking again natively would end the same way. */
  get isRefusal(): boolean {
    return this.failure.kind === "http" && this.failure.status >= 400 && this.failure.status < 500;
  }
}

export function isEngineError(error: unknown): error is EngineError {
  return error instanceof EngineError;
}
