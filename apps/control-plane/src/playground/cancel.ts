import type { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";
import { hostRoom } from "../hub";
import { findOwnRun, type RunInput, readRun } from "./get";
import type { PlaygroundRunOut } from "./schema";

/** Ends the question where it runs. One that has ended stays as it ended. */
export async function cancelRun({ ctx, input }: Call<z.infer<typeof RunInput>>): Promise<PlaygroundRunOut> {
  const run = await findOwnRun(ctx, input.id);
  await ctx.db.playgroundRun.updateMany({
    where: { id: run.id, state: "RUNNING" },
    data: { state: "CANCELLED", endedAt: new Date() },
  });
  await writeAudit(ctx, {
    verb: "playground.cancel",
    entity: "playground",
    entityId: run.id,
    before: { state: run.state },
  });
  ctx.afterCommit(() => {
    ctx.services.hub.io.of("/nodes").to(hostRoom(run.nodeId)).emit("playground-cancel", { id: run.id });
  });
  return readRun({ ctx, input });
}
