import { z } from "zod";
import type { Context } from "../context";

export const AuditValues = z.object({
  entities: z.array(z.string()),
  verbs: z.array(z.string()),
  actors: z.array(z.string()),
});

/** More names than a list to choose from can show. */
const MOST = 300;

/**
 * What stands in the audit, for the filters to offer. A step of the recursion jumps to the next value in the index, so
 * that a million rows of twenty verbs cost twenty look-ups.
 */
export async function auditValues(ctx: Context): Promise<z.infer<typeof AuditValues>> {
  const entities = ctx.db.$queryRaw<Found[]>`
    WITH RECURSIVE one AS (
      (SELECT "entity" AS value FROM "audit_entry" ORDER BY "entity" LIMIT 1)
      UNION ALL
      SELECT (SELECT "entity" FROM "audit_entry" WHERE "entity" > one.value ORDER BY "entity" LIMIT 1)
      FROM one WHERE one.value IS NOT NULL
    ) SELECT value FROM one WHERE value IS NOT NULL LIMIT ${MOST}`;
  const verbs = ctx.db.$queryRaw<Found[]>`
    WITH RECURSIVE one AS (
      (SELECT "verb" AS value FROM "audit_entry" ORDER BY "verb" LIMIT 1)
      UNION ALL
      SELECT (SELECT "verb" FROM "audit_entry" WHERE "verb" > one.value ORDER BY "verb" LIMIT 1)
      FROM one WHERE one.value IS NOT NULL
    ) SELECT value FROM one WHERE value IS NOT NULL LIMIT ${MOST}`;
  const actors = ctx.db.$queryRaw<Found[]>`
    WITH RECURSIVE one AS (
      (SELECT "actor_name" AS value FROM "audit_entry" ORDER BY "actor_name" LIMIT 1)
      UNION ALL
      SELECT (SELECT "actor_name" FROM "audit_entry" WHERE "actor_name" > one.value ORDER BY "actor_name" LIMIT 1)
      FROM one WHERE one.value IS NOT NULL
    ) SELECT value FROM one WHERE value IS NOT NULL LIMIT ${MOST}`;
  const named = (found: Found[]) => found.map(({ value }) => value);
  return { entities: named(await entities), verbs: named(await verbs), actors: named(await actors) };
}

type Found = { value: string };
