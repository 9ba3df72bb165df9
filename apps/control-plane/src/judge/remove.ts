import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";

export const RemoveJudgeInput = z.object({ id: z.uuid() });
export const RemoveJudgeOutput = z.object({ id: z.uuid(), sha256: z.string() });

/** Errors: NOT_FOUND; CONFLICT while a route judges by it. */
export async function removeJudge({ ctx, input }: Call<z.infer<typeof RemoveJudgeInput>>) {
  // From here on no route takes it: who is about to waits, and finds it gone.
  await ctx.db.$executeRaw`SELECT 1 FROM "judge_table" WHERE "id" = ${input.id}::uuid FOR UPDATE`;
  const found = await ctx.db.judgeTable.findUnique({
    where: { id: input.id },
    include: { routes: { select: { name: true } } },
  });
  if (!found) throw new HelmError("NOT_FOUND", "There is no such judge table any more.");
  const { id, sha256, pairId, routes } = found;
  if (routes.length > 0)
    throw new HelmError(
      "CONFLICT",
      `${routes.map(({ name }) => name).join(", ")} judges by this table. Give the route another one, or none, first.`,
    );
  await ctx.db.judgeTable.delete({ where: { id } });
  await writeAudit(ctx, { verb: "judge.remove", entity: "judge", entityId: id, before: { sha256, pairId } });
  return { id, sha256 };
}
