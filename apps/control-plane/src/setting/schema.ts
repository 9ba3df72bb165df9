import { z } from "zod";

export const SettingOut = z.object({
  helmEnabled: z.boolean(),
  killSwitch: z.boolean(),
  gate: z.number(),
  gateOn: z.enum(["lower", "point"]),
  requireBeatsPilot: z.boolean(),
  helmOffAfterS: z.number().int(),
  refuseKeysAfterS: z.number().int(),
  revision: z.number().int(),
  updatedAt: z.date(),
});
