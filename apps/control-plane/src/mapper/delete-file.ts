import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { removeDeletedFile } from "../artifact/remove-deleted";
import { writeAudit } from "../audit/write-audit";
import type { Call, Context } from "../context";
import { outsideTransaction } from "../transaction";
import { lockMapper, type MapperIdInput } from "./activate";

export const DeleteFileOutput = z.object({ id: z.uuid(), sha256: z.string(), freedBytes: z.number().int() });

/** Frees the space of a retired mapper; its row, its scores and its run stay. A file that two mappers share goes with the last. */
export async function deleteMapperFile({ ctx, input }: Call<z.infer<typeof MapperIdInput>>) {
  const mapper = await lockMapper(ctx, input);
  const { sha256 } = mapper;
  await ctx.db.$executeRaw`SELECT 1 FROM "artifact" WHERE "sha256" = ${sha256} FOR UPDATE`;
  const artifact = await ctx.db.artifact.findUniqueOrThrow({ where: { sha256 } });
  if (artifact.deletedAt)
    throw new HelmError("ILLEGAL_TRANSITION", "The file of this mapper was deleted already.");
  await requireUnused(ctx, sha256);
  await ctx.db.artifact.update({ where: { sha256 }, data: { deletedAt: new Date() } });
  await ctx.db.mapper.update({ where: { id: mapper.id }, data: { revision: { increment: 1 } } });
  await writeAudit(ctx, {
    verb: "mapper.deleteFile",
    entity: "mapper",
    entityId: mapper.id,
    before: { file: "stored" },
    after: { file: "deleted", sha256, bytes: Number(artifact.bytes) },
  });
  // Bytes do not come back: they go only once it is certain that the rows say so.
  const { services, log } = ctx;
  ctx.afterCommit(() =>
    removeDeletedFile(outsideTransaction({ ...ctx, services }), sha256).catch((error: unknown) =>
      log.warn({ err: error, sha256 }, "a deleted file is still stored; the sweep will try again"),
    ),
  );
  return { id: mapper.id, sha256, freedBytes: Number(artifact.bytes) };
}

async function requireUnused(ctx: Context, sha256: string): Promise<void> {
  const used = await ctx.db.mapper.findMany({
    where: { sha256, state: { not: "RETIRED" } },
    include: { pair: { include: { source: true, target: true } } },
    omit: { manifest: true },
  });
  if (used.length > 0) {
    const names = used.map(({ state, pair }) => `${state} for ${pair.source.name} -> ${pair.target.name}`);
    const sentence = `The file is in use: it is ${names.join(", ")}. Retire the mapper first.`;
    throw new HelmError("ILLEGAL_TRANSITION", sentence, {
      mappers: used.map(({ id, state }) => ({ id, state })),
    });
  }
  const [newest] = await ctx.db.routingSnapshot.findMany({
    orderBy: { generation: "desc" },
    take: 1,
    select: { generation: true, document: true },
  });
  if (newest?.document.includes(sha256)) {
    const sentence = `Nodes are still told to hold this file (generation ${newest.generation}). Release the held snapshot first.`;
    throw new HelmError("ILLEGAL_TRANSITION", sentence, { generation: newest.generation });
  }
  const delivering = await ctx.db.calibrationAttempt.findFirst({
    where: { artifactSha256: sha256, state: { in: ["RUNNING", "LOST"] } },
    select: { calibrationId: true },
  });
  if (delivering) {
    const sentence = "A run that is about to end brought this very file again. Wait for its end.";
    throw new HelmError("ILLEGAL_TRANSITION", sentence, { calibrationId: delivering.calibrationId });
  }
}
