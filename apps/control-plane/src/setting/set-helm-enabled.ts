import { z } from "zod";
import type { Call } from "../context";
import { changeSetting } from "./change-setting";

export const SetHelmEnabledInput = z.object({ enabled: z.boolean(), revision: z.number().int() });

export function setHelmEnabled({ ctx, input }: Call<z.infer<typeof SetHelmEnabledInput>>) {
  return changeSetting(ctx, {
    verb: "setting.setHelmEnabled",
    revision: input.revision,
    data: { helmEnabled: input.enabled },
  });
}
