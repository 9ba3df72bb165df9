import { HelmError, JudgeTable } from "@helm/contracts";
import { z } from "zod";
import type { Call } from "../context";
import { JudgeTableOut, judgeTableOut, withNames } from "./schema";

export const ListJudgeInput = z.object({
  pairId: z.uuid().optional(),
  limit: z.number().int().min(1).max(200).default(50),
});

/** Newest first. */
export async function listJudgeTables({ ctx, input }: Call<z.infer<typeof ListJudgeInput>>) {
  const rows = await ctx.db.judgeTable.findMany({
    where: { pairId: input.pairId },
    include: withNames,
    orderBy: { id: "desc" },
    take: input.limit,
  });
  return rows.map(judgeTableOut);
}

export const GetJudgeInput = z.object({
  /** Its id, or the beginning of its digest. */
  id: z.string().regex(/^[0-9a-f-]{6,64}$/, "an id, or at least six digits of the digest"),
});
export const JudgeTablePage = JudgeTableOut.extend({ table: JudgeTable });

export async function getJudgeTable({ ctx, input: { id } }: Call<z.infer<typeof GetJudgeInput>>) {
  const byId = z.uuid().safeParse(id).success;
  const rows = await ctx.db.judgeTable.findMany({
    where: byId ? { id } : { sha256: { startsWith: id } },
    include: withNames,
    take: 2,
  });
  const [found, other] = rows;
  if (!found)
    throw new HelmError("NOT_FOUND", `There is no judge table ${id}. lifeboat helm judge list names all.`);
  if (other) throw new HelmError("BAD_REQUEST", `Several judge tables begin with ${id}. Give more digits.`);
  return { ...judgeTableOut(found), table: JudgeTable.parse(found.table) };
}
