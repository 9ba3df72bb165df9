import { z } from "zod";
import type { Call } from "../context";
import { changeSetting } from "./change-setting";

export const SetKillSwitchInput = z.object({ on: z.boolean(), revision: z.number().int() });

export function setKillSwitch({ ctx, input }: Call<z.infer<typeof SetKillSwitchInput>>) {
  return changeSetting(ctx, {
    verb: "setting.setKillSwitch",
    revision: input.revision,
    data: { killSwitch: input.on },
  });
}
