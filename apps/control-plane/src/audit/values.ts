import { Prisma } from "@helm/db";
import { z } from "zod";
import type { Context } from "../context";
import { readDistinct } from "../distinct-values";

export const AuditValues = z.object({
  entities: z.array(z.string()),
  verbs: z.array(z.string()),
  actors: z.array(z.string()),
});

const AUDIT = Prisma.sql`"audit_entry"`;

/** What stands in the audit, for the filters to offer. */
export async function auditValues({ db }: Context): Promise<z.infer<typeof AuditValues>> {
  return {
    entities: await readDistinct(db, AUDIT, Prisma.sql`"entity"`),
    verbs: await readDistinct(db, AUDIT, Prisma.sql`"verb"`),
    actors: await readDistinct(db, AUDIT, Prisma.sql`"actor_name"`),
  };
}
