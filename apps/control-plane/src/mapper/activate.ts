import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import type { Call, Context } from "../context";
import { refreshPairStatus } from "../pair/refresh-status";
import { nextMapperState } from "./states";

export const MapperIdInput = z.object({
  id: z.uuid(),
  /** What the caller saw: where the mapper has changed since, nothing is done. */
  revision: z.number().int().optional(),
});
export const MapperStateOutput = z.object({
  id: z.uuid(),
  state: z.enum(["ACTIVE", "INACTIVE", "RETIRED"]),
  pairStatus: z.enum(["ELIGIBLE", "TRANSFER_INELIGIBLE", "NOT_CALIBRATED"]),
});

/** Errors: NOT_FOUND; CONFLICT where it is another revision than the caller saw, with what it is now. */
export async function lockMapper(ctx: Context, { id, revision }: z.infer<typeof MapperIdInput>) {
  const mapper = await ctx.db.mapper.findUnique({ where: { id } });
  if (!mapper) throw new HelmError("NOT_FOUND", "There is no such mapper.");
  await ctx.db.$executeRaw`SELECT 1 FROM "pair" WHERE "id" = ${mapper.pairId}::uuid FOR NO KEY UPDATE`;
  const now = await ctx.db.mapper.findUniqueOrThrow({ where: { id } });
  if (revision !== undefined && now.revision !== revision) {
    const sentence = `Somebody changed this mapper meanwhile: it is ${now.state} now. Look at it again, then decide.`;
    throw new HelmError("CONFLICT", sentence, { state: now.state, revision: now.revision });
  }
  return now;
}

/** One active mapper a pair: the one that was becomes INACTIVE in the same transaction. */
export async function activateMapper({ ctx, input }: Call<z.infer<typeof MapperIdInput>>) {
  const mapper = await lockMapper(ctx, input);
  if (mapper.verdict !== "CLEARED")
    throw new HelmError("NOT_CLEARED", "Only a mapper that cleared the gate can be activated.");
  const state = nextMapperState(mapper.state, "activate");
  const before = await ctx.db.mapper.findFirst({ where: { pairId: mapper.pairId, state: "ACTIVE" } });
  await ctx.db.mapper.updateMany({
    where: { pairId: mapper.pairId, state: "ACTIVE" },
    data: { state: "INACTIVE", revision: { increment: 1 } },
  });
  await ctx.db.mapper.update({
    where: { id: mapper.id },
    data: { state, activatedAt: new Date(), revision: { increment: 1 } },
  });
  const pairStatus = await refreshPairStatus(ctx, mapper.pairId);
  await writeAudit(ctx, {
    verb: "mapper.activate",
    entity: "mapper",
    entityId: mapper.id,
    before: { state: mapper.state, active: before?.id ?? null },
    after: { state, pairStatus },
  });
  return { id: mapper.id, state, pairStatus };
}
