import { type AuditVerb, HelmError } from "@helm/contracts";
import { writeAudit } from "../audit/write-audit";
import type { Context } from "../context";
import { conflictOf } from "./conflict";

export interface RowChange<Row extends { revision: number }> {
  verb: AuditVerb;
  entity: string;
  entityId: string;
  /** As a person would call it: "the route helm-auto". */
  what: string;
  /** What the editor held; null where the verb takes effect whatever stands. */
  revision: number | null;
  /** The row as its own `get` returns it, null where there is none (any more). */
  read(): Promise<Row | null>;
  /** Writes where the revision still is `revision`, and counts what it wrote. */
  write(where: { revision?: number }, next: { revision: { increment: 1 } }): Promise<{ count: number }>;
  /** What the audit keeps of a row; the revision is added. */
  audited(row: Row): Record<string, unknown>;
  reason?: string;
}

/**
 * Every edit of a row that two people may have open: written only over the revision that its editor saw, with the audit
 * row of what was and what is. Errors: NOT_FOUND; CONFLICT with what stands now and who made it so.
 */
export async function changeRow<Row extends { revision: number }>(
  ctx: Context,
  change: RowChange<Row>,
): Promise<Row> {
  const { verb, entity, entityId, what, revision, reason } = change;
  const before = await change.read();
  if (!before) throw gone(what);
  const where = revision === null ? {} : { revision };
  const { count } = await change.write(where, { revision: { increment: 1 } });
  const after = await change.read();
  if (!after) throw gone(what);
  if (count === 0)
    throw await conflictOf(ctx, { entity, entityId, what, revision: revision ?? 0, current: after });
  await writeAudit(ctx, {
    verb,
    entity,
    entityId,
    before: { ...change.audited(before), revision: before.revision },
    after: { ...change.audited(after), revision: after.revision },
    reason,
  });
  return after;
}

function gone(what: string): HelmError {
  return new HelmError("NOT_FOUND", `There is no such thing any more: ${what}.`);
}
