import { z } from "zod";
import type { Context } from "../context";

const OPEN = ["RUNNING", "LOST"] as const;

/** Owners that are no attempt (a person's upload) are left to their age alone. */
export async function sweepUploads(ctx: Context): Promise<void> {
  const swept = await ctx.services.uploads.sweep(async (owners) => {
    const attempts = owners.filter((owner) => z.uuid().safeParse(owner).success);
    const open = await ctx.services.db.calibrationAttempt.findMany({
      where: { id: { in: attempts }, state: { in: [...OPEN] } },
      select: { id: true },
    });
    const going = new Set(open.map(({ id }) => id));
    return new Set(attempts.filter((id) => !going.has(id)));
  });
  if (swept > 0) ctx.log.info({ swept }, "unfinished uploads were thrown away");
}
