import { z } from "zod";
import type { Call } from "../context";
import { changeSetting } from "./change-setting";

export const UpdateSettingInput = z.object({
  gate: z.number().gt(0).max(1).optional(),
  gateOn: z.enum(["lower", "point"]).optional(),
  requireBeatsPilot: z.boolean().optional(),
  revision: z.number().int(),
});

/** The gate holds for runs that finish from here on; the policy for routing at once. */
export function updateSetting({
  ctx,
  input: { revision, ...data },
}: Call<z.infer<typeof UpdateSettingInput>>) {
  return changeSetting(ctx, { verb: "setting.update", revision, data });
}
