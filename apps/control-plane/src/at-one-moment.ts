import type { Context } from "./context";

/** As long as the longest mutation may take. */
const LONGEST_MS = 30_000;

/**
 * Everything that `read` asks is of one moment: what a page puts together out of several statements cannot contradict
 * itself. The database refuses to write in it.
 */
export function atOneMoment<T>(outer: Context, read: (ctx: Context) => Promise<T>): Promise<T> {
  return outer.services.db.$transaction(
    async (tx) => {
      await tx.$executeRaw`SET TRANSACTION READ ONLY`;
      return read({ ...outer, db: tx });
    },
    { isolationLevel: "RepeatableRead", maxWait: 10_000, timeout: LONGEST_MS },
  );
}
