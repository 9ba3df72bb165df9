import type { Prisma } from "@helm/db";
import { vi } from "vitest";
import type { TestControlPlane } from "./control-plane";

const PATIENCE_MS = 20_000;
export const HELD = { maxWait: PATIENCE_MS, timeout: 2 * PATIENCE_MS };

/**
 * Lets requests meet at a moment that is certain. While `meet` runs nobody writes to `table`; `waiting` resolves once so many
 * statements of this database wait for a lock, that one or another's.
 */
export async function whileWritersWait<T>(
  control: Pick<TestControlPlane, "db">,
  table: Prisma.ModelName,
  meet: (waiting: (count: number) => Promise<void>, tx: Prisma.TransactionClient) => Promise<T>,
): Promise<T> {
  return control.db.$transaction(async (tx) => {
    await tx.$executeRawUnsafe(`LOCK TABLE "${nameOf(table)}" IN SHARE ROW EXCLUSIVE MODE`);
    return meet((count) => waitingForLocks(control, count), tx);
  }, HELD);
}

/** As the schema maps it: ApiKey is api_key. */
function nameOf(table: Prisma.ModelName): string {
  return table.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}

/** Asked outside of the transaction that holds the table: inside one, connections that are made later are not seen. */
export async function waitingForLocks({ db }: Pick<TestControlPlane, "db">, count: number): Promise<void> {
  await vi.waitFor(
    async () => {
      const found = await db.$queryRaw<{ query: string }[]>`
        SELECT "query" FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      if (found.length !== count) throw new Error(`${count} should wait, not ${JSON.stringify(found)}`);
    },
    { timeout: PATIENCE_MS, interval: 20 },
  );
}

/** Resolves with what came of each: "done", or our code of the refusal. */
export async function outcomes(calls: Promise<unknown>[]): Promise<string[]> {
  const settled = await Promise.allSettled(calls);
  return settled.map((one) => (one.status === "fulfilled" ? "done" : codeOf(one.reason)));
}

function codeOf(thrown: unknown): string {
  const { code, cause } = thrown as { code?: string; cause?: { code?: string } };
  return cause?.code ?? code ?? String(thrown);
}
