import type { Context } from "../context";
import { inTransaction } from "../transaction";

/**
 * Removes the bytes of an artifact whose row says that they were deleted. Under the row's lock: an upload of the same digest
 * either has taken the row back, and nothing is removed, or it finds the bytes gone and begins again.
 */
export async function removeDeletedFile(ctx: Context, sha256: string): Promise<void> {
  await inTransaction(ctx, { audited: false, publish: false }, async ({ db, services }) => {
    await db.$executeRaw`SELECT 1 FROM "artifact" WHERE "sha256" = ${sha256} FOR UPDATE`;
    const row = await db.artifact.findUnique({ where: { sha256 } });
    if (row?.deletedAt) await services.artifacts.remove(sha256);
  });
}

/** What a process left that died, or a store that failed, between the commit of a deletion and its bytes. */
export async function sweepDeletedFiles(ctx: Context): Promise<void> {
  const { db, artifacts } = ctx.services;
  const deleted = await db.artifact.findMany({
    where: { deletedAt: { not: null } },
    select: { sha256: true },
  });
  if (deleted.length === 0) return;
  const gone = new Set(deleted.map(({ sha256 }) => sha256));
  for (const { sha256 } of await artifacts.files()) {
    if (!gone.has(sha256)) continue;
    await removeDeletedFile(ctx, sha256);
    ctx.log.info({ sha256 }, "a deleted file that was still stored was removed");
  }
}
