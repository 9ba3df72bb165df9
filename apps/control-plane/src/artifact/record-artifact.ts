import type { Context } from "../context";
import { busy } from "./store";

/** The row of a file that is stored; true where there was none, or its file had been deleted. */
export async function recordArtifact(ctx: Context, sha256: string, bytes: number): Promise<boolean> {
  await ctx.db.$executeRaw`SELECT 1 FROM "artifact" WHERE "sha256" = ${sha256} FOR UPDATE`;
  // Somebody deleted the file of a retired mapper at this very moment: whoever brings it begins again.
  if ((await ctx.services.artifacts.size(sha256)) === null)
    throw busy("The file was deleted while it arrived. Send it again.", 1_000);
  const known = await ctx.db.artifact.findUnique({ where: { sha256 } });
  if (known && known.deletedAt === null) return false;
  await ctx.db.artifact.upsert({
    where: { sha256 },
    create: { sha256, bytes },
    update: { deletedAt: null, bytes },
  });
  return true;
}
