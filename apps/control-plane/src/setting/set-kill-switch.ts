import { z } from "zod";
import type { Call } from "../context";
import { changeSetting } from "./change-setting";

/** Pulling it needs no revision: in an emergency nobody is to be told that a colleague edited the gate meanwhile. */
export const SetKillSwitchInput = z
  .object({ on: z.boolean(), revision: z.number().int().optional() })
  .refine(({ on, revision }) => on || revision !== undefined, {
    path: ["revision"],
    message: "releasing the kill switch needs the revision that was seen",
  });

export async function setKillSwitch({ ctx, input }: Call<z.infer<typeof SetKillSwitchInput>>) {
  // Without a revision nothing tells an edit of the same moment from this one: its audit row would be of both.
  await ctx.db.$executeRaw`SELECT 1 FROM "setting" WHERE "id" = 1 FOR NO KEY UPDATE`;
  return changeSetting(ctx, {
    verb: "setting.setKillSwitch",
    revision: input.on ? null : (input.revision ?? 0),
    data: { killSwitch: input.on, killSwitchAt: new Date() },
  });
}
