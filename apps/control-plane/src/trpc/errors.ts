import { type ErrorCode, HelmError } from "@helm/contracts";
import { Prisma } from "@helm/db";
import { TRPCError } from "@trpc/server";
import { ZodError } from "zod";
import { isRace, storageTrouble } from "./storage-trouble";

type TrpcCode = TRPCError["code"];

const TRPC_CODE: Record<ErrorCode, TrpcCode> = {
  BAD_REQUEST: "BAD_REQUEST",
  UNAUTHENTICATED: "UNAUTHORIZED",
  FORBIDDEN: "FORBIDDEN",
  NOT_FOUND: "NOT_FOUND",
  CONFLICT: "CONFLICT",
  RACE: "CONFLICT",
  ILLEGAL_TRANSITION: "CONFLICT",
  PAIR_IMPOSSIBLE: "UNPROCESSABLE_CONTENT",
  PAIR_EXISTS: "CONFLICT",
  CALIBRATION_RUNNING: "CONFLICT",
  NONE_WOULD_SERVE: "CONFLICT",
  NODE_PARKED: "CONFLICT",
  NOT_CLEARED: "CONFLICT",
  COUNTS_REFUSED: "UNPROCESSABLE_CONTENT",
  PLACEMENT_REFUSED: "UNPROCESSABLE_CONTENT",
  ROLLBACK_REFUSED: "UNPROCESSABLE_CONTENT",
  ATTEMPT_FENCED: "CONFLICT",
  ARTIFACT_MISMATCH: "UNPROCESSABLE_CONTENT",
  ARTIFACT_TOO_LARGE: "PAYLOAD_TOO_LARGE",
  IMPORT_REFUSED: "UNPROCESSABLE_CONTENT",
  UPLOAD_OFFSET: "CONFLICT",
  UPLOAD_BUSY: "SERVICE_UNAVAILABLE",
  STORAGE_FULL: "SERVICE_UNAVAILABLE",
  STORAGE_UNAVAILABLE: "SERVICE_UNAVAILABLE",
  LAST_ADMIN: "CONFLICT",
  SETUP_CLOSED: "FORBIDDEN",
  TOKEN_INVALID: "UNAUTHORIZED",
  RATE_LIMITED: "TOO_MANY_REQUESTS",
  UNAVAILABLE: "PRECONDITION_FAILED",
  DATABASE_DOWN: "SERVICE_UNAVAILABLE",
  DATABASE_BUSY: "SERVICE_UNAVAILABLE",
  INTERNAL: "INTERNAL_SERVER_ERROR",
};

const HTTP_STATUS: Record<ErrorCode, number> = {
  BAD_REQUEST: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  // Hosts ask again after a 503 and give up after a 409.
  RACE: 503,
  ILLEGAL_TRANSITION: 409,
  PAIR_IMPOSSIBLE: 422,
  PAIR_EXISTS: 409,
  CALIBRATION_RUNNING: 409,
  NONE_WOULD_SERVE: 409,
  NODE_PARKED: 409,
  NOT_CLEARED: 409,
  COUNTS_REFUSED: 422,
  PLACEMENT_REFUSED: 422,
  ROLLBACK_REFUSED: 422,
  ATTEMPT_FENCED: 409,
  ARTIFACT_MISMATCH: 422,
  ARTIFACT_TOO_LARGE: 413,
  IMPORT_REFUSED: 422,
  UPLOAD_OFFSET: 409,
  UPLOAD_BUSY: 503,
  STORAGE_FULL: 507,
  STORAGE_UNAVAILABLE: 503,
  LAST_ADMIN: 409,
  SETUP_CLOSED: 403,
  TOKEN_INVALID: 401,
  RATE_LIMITED: 429,
  UNAVAILABLE: 412,
  DATABASE_DOWN: 503,
  DATABASE_BUSY: 503,
  INTERNAL: 500,
};

/** Trouble of ours and not of who asked: a host that meets it tries again instead of giving up. */
export function isOurTrouble(code: ErrorCode): boolean {
  return httpStatus(code) >= 500;
}

export function httpStatus(code: ErrorCode): number {
  return HTTP_STATUS[code];
}

/** Prisma's codes of a value that is not its column's; which of them it was, they do not say reliably. */
const UNFIT: ReadonlySet<string> = new Set(["P2000", "P2007", "P2020", "P2023"]);

/** Anything thrown becomes one of our errors; what we did not foresee says nothing of its inside. */
export function toHelmError(error: unknown): HelmError {
  if (error instanceof HelmError) return error;
  if (error instanceof TRPCError) return fromTrpc(error);
  if (error instanceof ZodError) return badRequest(error);
  const trouble = storageTrouble(error);
  if (trouble) return trouble;
  if (isRace(error))
    return new HelmError("RACE", "Someone changed this at the same moment. Try again.", {}, { cause: error });
  if (error instanceof Prisma.PrismaClientKnownRequestError) {
    if (error.code === "P2002")
      return new HelmError("CONFLICT", "This already exists.", {}, { cause: error });
    if (error.code === "P2003")
      return new HelmError(
        "CONFLICT",
        "What this refers to was removed meanwhile, or something still refers to it. Look again.",
        {},
        { cause: error },
      );
    if (error.code === "P2025")
      return new HelmError("NOT_FOUND", "This does not exist any more.", {}, { cause: error });
    // An id, a number or a text that its column cannot hold: the input's fault, and the same at every further try.
    if (UNFIT.has(error.code))
      return new HelmError(
        "BAD_REQUEST",
        "A value in the request is none that the database can hold: an id that is no id, a number that is too large, or text with a character that cannot be stored. Correct it and send it again.",
        {},
        { cause: error },
      );
  }
  const message = error instanceof Error ? error.message : String(error);
  return new HelmError("INTERNAL", "Something went wrong on the server.", {}, { cause: error, message });
}

export function toTrpcError(error: HelmError): TRPCError {
  return new TRPCError({ code: TRPC_CODE[error.code], message: error.userMessage, cause: error });
}

function fromTrpc(error: TRPCError): HelmError {
  if (error.cause instanceof HelmError) return error.cause;
  if (error.cause instanceof ZodError && error.code === "BAD_REQUEST") return badRequest(error.cause);
  if (error.code === "NOT_FOUND") return new HelmError("NOT_FOUND", "There is no such procedure.");
  if (error.code === "INTERNAL_SERVER_ERROR" && error.cause) return toHelmError(error.cause);
  if (error.code === "INTERNAL_SERVER_ERROR")
    return new HelmError(
      "INTERNAL",
      "Something went wrong on the server.",
      {},
      { cause: error, message: error.message },
    );
  return new HelmError("BAD_REQUEST", error.message, {}, { cause: error });
}

function badRequest(error: ZodError): HelmError {
  const issues = error.issues.map((issue) => ({
    path: issue.path.map(String).join("."),
    message: issue.message,
  }));
  const first = issues[0];
  const sentence = first ? `${first.path || "input"}: ${first.message}` : "The input is not valid.";
  return new HelmError("BAD_REQUEST", sentence, { issues }, { cause: error });
}
