import { HelmError } from "@helm/contracts";
import { z } from "zod";
import type { Call } from "../context";
import { changeSetting } from "./change-setting";

/** Nodes get a new access list every hour at the latest: a limit below two would switch a healthy fleet off. */
const LEAST_AGE_S = 2 * 3600;
const LONGEST_AGE_S = 365 * 86_400;
const age = z.number().int().min(LEAST_AGE_S, "at least two hours").max(LONGEST_AGE_S, "at most a year");

export const UpdateSettingInput = z.object({
  gate: z.number().gt(0).max(1).optional(),
  gateOn: z.enum(["lower", "point"]).optional(),
  requireBeatsPilot: z.boolean().optional(),
  helmOffAfterS: age.optional(),
  refuseKeysAfterS: age.optional(),
  traceRate: z.number().min(0).max(1).optional(),
  traceDays: z.number().int().min(1).max(90).optional(),
  traceTextHours: z.number().int().min(1).max(168).optional(),
  revision: z.number().int(),
});

/** The gate holds for runs that finish from here on; the policy for routing and the ages of the access list at once. */
export async function updateSetting({
  ctx,
  input: { revision, ...data },
}: Call<z.infer<typeof UpdateSettingInput>>) {
  const stored = await changeSetting(ctx, { verb: "setting.update", revision, data });
  if (stored.refuseKeysAfterS < stored.helmOffAfterS)
    throw new HelmError(
      "BAD_REQUEST",
      "Keys cannot be refused before Helm goes off: make the second age at least as long as the first.",
    );
  return stored;
}
