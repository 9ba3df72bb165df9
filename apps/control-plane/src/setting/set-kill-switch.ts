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

export function setKillSwitch({ ctx, input }: Call<z.infer<typeof SetKillSwitchInput>>) {
  return changeSetting(ctx, {
    verb: "setting.setKillSwitch",
    revision: input.on ? null : (input.revision ?? 0),
    data: { killSwitch: input.on, killSwitchAt: new Date() },
  });
}
