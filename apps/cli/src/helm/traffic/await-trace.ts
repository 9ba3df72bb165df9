import { setTimeout as pause } from "node:timers/promises";
import { TRACE_WAIT_MS } from "@helm/contracts";
import { Failure } from "../../failure";
import { isAbsence, isServerError, toFailure } from "../../server/client";

const EVERY_MS = 1_000;

/** A new trace is on its way for some seconds. Errors: Failure where it has not come, and whatever else the server says. */
export async function awaitTrace<T>(
  ask: () => Promise<T>,
  { everyMs = EVERY_MS, longestMs = TRACE_WAIT_MS } = {},
): Promise<T> {
  for (let waited = 0; ; waited += everyMs) {
    try {
      return await ask();
    } catch (error) {
      if (waited >= longestMs || !(isMissing(error) || isAbsence(error))) throw error;
    }
    await pause(everyMs);
  }
}

/** Whoever looks at once is told how to look until it is there. */
export function sayWait(error: unknown): never {
  if (!isMissing(error)) throw error;
  const { exitCode, code, message, lines, details } = toFailure(error);
  throw new Failure(exitCode, code, `${message} Add --wait to look until it has arrived.`, lines, details);
}

function isMissing(error: unknown): error is Parameters<typeof toFailure>[0] {
  return isServerError(error) && toFailure(error).code === "NOT_FOUND";
}
