import type { Shortfall } from "@helm/admission";
import { ENGINE_REFUSED, GatewayHeader } from "@helm/contracts";
import { type EngineError, isEngineError } from "../../engine/engine-error";

/** vLLM and the reference engine say 503; one behind a proxy may say 429. */
export function isOverloadStatus(status: number): boolean {
  return status === 503 || status === 429;
}

/** An error as a client sees it: OpenAI's shape, a status, and headers where they help. */
export class GatewayError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly detail: {
      type?: string;
      param?: string | null;
      helm?: unknown;
      headers?: Record<string, string>;
    } = {},
  ) {
    super(message);
    this.name = "GatewayError";
  }

  body(): Record<string, unknown> {
    const { type = "invalid_request_error", param = null, helm } = this.detail;
    return { error: { message: this.message, type, param, code: this.code, ...(helm ? { helm } : {}) } };
  }
}

export function badRequest(param: string | null, message: string, code = "invalid_value"): GatewayError {
  return new GatewayError(400, code, message, { param });
}

export function modelNotFound(model: string): GatewayError {
  return new GatewayError(
    404,
    "model_not_found",
    `The model '${model.slice(0, 200)}' does not exist. GET /v1/models lists those that do.`,
    {
      param: "model",
    },
  );
}

export function noCapacity(message: string, retryAfterS = 2): GatewayError {
  return new GatewayError(503, "no_capacity", message, {
    type: "overloaded_error",
    headers: { "retry-after": String(retryAfterS) },
  });
}

/** Without one measurement there is no limit that could be kept. */
export function telemetryStale(model: string): GatewayError {
  return new GatewayError(
    503,
    "telemetry_stale",
    `The engine has not told how much memory ${model} may take.`,
    {
      type: "overloaded_error",
      headers: { "retry-after": "2" },
    },
  );
}

/** A refusal with a number, before anything was started. */
export function admissionRefused(shortfall: Shortfall): GatewayError {
  const detail = { type: "admission_error", helm: shortfall };
  if (shortfall.never_fits) {
    const text = `The request needs ${shortfall.needed_bytes} bytes of cache; the whole budget is ${shortfall.available_bytes}. Send a shorter prompt or a smaller max_tokens.`;
    return new GatewayError(413, "never_fits", text, detail);
  }
  return new GatewayError(
    429,
    shortfall.code,
    `The request needs ${shortfall.needed_bytes} bytes of cache and ${shortfall.available_bytes} are free; try again in ${shortfall.retry_after_ms} ms${shortfall.ticket ? `, with the header ${GatewayHeader.ticket}: ${shortfall.ticket} to keep your place` : ""}.`,
    { ...detail, headers: { "retry-after": String(Math.ceil(shortfall.retry_after_ms / 1000)) } },
  );
}

/** An engine's failure as the client sees it: its refusals word for word, of anything else only the kind. */
export function fromEngine(error: EngineError): GatewayError {
  const { failure } = error;
  switch (failure.kind) {
    case "http":
      if (isOverloadStatus(failure.status))
        return noCapacity("The engine has no room for the request right now.");
      return failure.status < 500 ? relayed(failure.status, failure.body) : engineFailed();
    case "unreachable":
      return noCapacity("No engine can take the request right now.");
    case "timeout":
      return new GatewayError(504, "timeout", "The model did not answer in time.", { type: "timeout_error" });
    case "broken":
    case "aborted":
      return engineFailed();
  }
}

export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (isEngineError(error)) return fromEngine(error);
  return new GatewayError(500, "internal_error", "The gateway failed while working on this request.", {
    type: "internal_error",
  });
}

function engineFailed(): GatewayError {
  return new GatewayError(502, "engine_error", "The engine failed while working on this request.", {
    type: "internal_error",
  });
}

function relayed(status: number, body: unknown): GatewayError {
  const error = (body as { error?: Record<string, unknown> } | null)?.error;
  const text = (value: unknown) => (typeof value === "string" ? value : undefined);
  return new GatewayError(
    status,
    text(error?.code) ?? ENGINE_REFUSED,
    text(error?.message) ?? "The engine refused the request.",
    { type: text(error?.type), param: text(error?.param) ?? null },
  );
}
