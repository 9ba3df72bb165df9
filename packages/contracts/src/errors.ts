import { z } from "zod";

/** Codes of errors that cross a process boundary; the message for the user says the next step. */
export const ErrorCode = z.enum([
  "BAD_REQUEST",
  "UNAUTHENTICATED",
  "FORBIDDEN",
  "NOT_FOUND",
  "CONFLICT",
  /** Two transactions met and this one gave way: the same request again may well succeed. */
  "RACE",
  "ILLEGAL_TRANSITION",
  "PAIR_IMPOSSIBLE",
  "PAIR_EXISTS",
  "CALIBRATION_RUNNING",
  /** The drain would leave a route without a node that serves, and nobody said that this is meant. */
  "NONE_WOULD_SERVE",
  "NODE_PARKED",
  "NOT_CLEARED",
  "COUNTS_REFUSED",
  "PLACEMENT_REFUSED",
  "ROLLBACK_REFUSED",
  "ATTEMPT_FENCED",
  "ARTIFACT_MISMATCH",
  "ARTIFACT_TOO_LARGE",
  "IMPORT_REFUSED",
  "UPLOAD_OFFSET",
  "UPLOAD_BUSY",
  "STORAGE_FULL",
  "STORAGE_UNAVAILABLE",
  "LAST_ADMIN",
  "SETUP_CLOSED",
  "TOKEN_INVALID",
  "RATE_LIMITED",
  "UNAVAILABLE",
  /** The database does not answer: nothing was changed, and the same request may be sent again. */
  "DATABASE_DOWN",
  /** The database answers, and had no connection or no time for this: nothing was changed, ask again in a moment. */
  "DATABASE_BUSY",
  "INTERNAL",
]);
export type ErrorCode = z.infer<typeof ErrorCode>;

/** `message` is for the log, `userMessage` for the person; a 5xx shows neither, only the request id. */
export class HelmError extends Error {
  constructor(
    readonly code: ErrorCode,
    readonly userMessage: string,
    readonly details: Record<string, unknown> = {},
    options?: { cause?: unknown; message?: string },
  ) {
    super(options?.message ?? userMessage, { cause: options?.cause });
    this.name = "HelmError";
  }
}
