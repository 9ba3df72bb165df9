import type { Context } from "../context";

/** The row of a file that is stored; true where there was none, or its file had been deleted. */
export async function recordArtifact(ctx: Context, sha256: string, bytes: number): Promise<boolean> {
  const known = await ctx.db.artifact.findUnique({ where: { sha256 } });
  if (known && known.deletedAt === null) return false;
  await ctx.db.artifact.upsert({
    where: { sha256 },
    create: { sha256, bytes },
    update: { deletedAt: null, bytes },
  });
  return true;
}
