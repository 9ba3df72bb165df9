import { setTimeout as pause } from "node:timers/promises";
import { Failure } from "../../failure";
import { isAbsence } from "../../server/client";

const EVERY_MS = 500;
const PATIENCE_MS = 300_000;

/** Asks until it is so; a server that is away for a moment is asked again. Errors: Failure after five minutes. */
export async function waitUntil<T>(
  ask: () => Promise<T>,
  isSo: (value: T) => boolean,
  stillWaiting: (value: T) => string,
): Promise<T> {
  let last: T | undefined;
  for (let waited = 0; waited < PATIENCE_MS; waited += EVERY_MS) {
    try {
      last = await ask();
      if (isSo(last)) return last;
    } catch (error) {
      if (!isAbsence(error)) throw error;
    }
    await pause(EVERY_MS);
  }
  throw new Failure(
    1,
    "STILL_WAITING",
    last === undefined ? "The server did not answer." : stillWaiting(last),
  );
}
