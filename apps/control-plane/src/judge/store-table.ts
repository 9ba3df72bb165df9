import { digestOfTable } from "@helm/cascade";
import { HelmError, type JudgeTable } from "@helm/contracts";
import type { Prisma } from "@helm/db";
import { actorName } from "../access/actor";
import { writeAudit } from "../audit/write-audit";
import type { Context } from "../context";
import { type JudgeTableOut, judgeTableOut, withNames } from "./schema";

/** Keeps a table under its digest, with the audit row of the verb that brought it. Errors: CONFLICT where it is here already. */
export async function storeTable(
  ctx: Context,
  verb: "judge.fit" | "judge.import",
  { table, pairId, calibrationId }: { table: JudgeTable; pairId: string; calibrationId: string | null },
): Promise<JudgeTableOut> {
  const sha256 = digestOfTable(table);
  await ctx.db.$executeRaw`SELECT 1 FROM "pair" WHERE "id" = ${pairId}::uuid FOR NO KEY UPDATE`;
  const known = await ctx.db.judgeTable.findUnique({ where: { pairId_sha256: { pairId, sha256 } } });
  if (known)
    throw new HelmError("CONFLICT", `Judge table ${sha256.slice(0, 12)} is here already.`, { id: known.id });
  const created = await ctx.db.judgeTable.create({
    data: {
      pairId,
      calibrationId,
      sha256,
      table: table as Prisma.InputJsonValue,
      createdBy: actorName(ctx.actor),
    },
    include: withNames,
  });
  const { streaming, window, label, n, origin } = table;
  await writeAudit(ctx, {
    verb,
    entity: "judge",
    entityId: created.id,
    after: { sha256, pairId, calibrationId, streaming, window, label, n, origin: origin.kind },
  });
  return judgeTableOut(created);
}
