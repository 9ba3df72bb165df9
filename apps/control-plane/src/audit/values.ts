import { Prisma } from "@helm/db";
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
  const [entities, verbs, actors] = [
    await values(ctx, ENTITY),
    await values(ctx, VERB),
    await values(ctx, ACTOR),
  ];
  return { entities, verbs, actors };
}

const ENTITY = Prisma.sql`"entity"`;
const VERB = Prisma.sql`"verb"`;
const ACTOR = Prisma.sql`"actor_name"`;

async function values(ctx: Context, column: Prisma.Sql): Promise<string[]> {
  const found = await ctx.db.$queryRaw<{ value: string }[]>`
    WITH RECURSIVE one AS (
      (SELECT ${column} AS value FROM "audit_entry" ORDER BY ${column} LIMIT 1)
      UNION ALL
      SELECT (SELECT ${column} FROM "audit_entry" WHERE ${column} > one.value ORDER BY ${column} LIMIT 1)
      FROM one WHERE one.value IS NOT NULL
    ) SELECT value FROM one WHERE value IS NOT NULL LIMIT ${MOST}`;
  return found.map(({ value }) => value);
}
