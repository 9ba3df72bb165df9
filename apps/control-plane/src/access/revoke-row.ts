import { HelmError } from "@helm/contracts";
import { Prisma } from "@helm/db";
import type { Context } from "../context";

const TABLES = {
  key: Prisma.sql`"api_key"`,
  host: Prisma.sql`"host"`,
  token: Prisma.sql`"personal_token"`,
} as const;

/** Final, and since when: of two who revoke the same at one moment the first one's time stands. Errors: NOT_FOUND. */
export async function revokeRow(ctx: Context, what: keyof typeof TABLES, id: string): Promise<Date> {
  const [row] = await ctx.db.$queryRaw<{ revokedAt: Date }[]>`
    UPDATE ${TABLES[what]} SET "revoked_at" = COALESCE("revoked_at", ${new Date()}) WHERE "id" = ${id}::uuid
    RETURNING "revoked_at" AS "revokedAt"`;
  if (!row) throw new HelmError("NOT_FOUND", `There is no such ${what} any more.`);
  return row.revokedAt;
}
