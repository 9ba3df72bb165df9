import { z } from "zod";

export const SettingOut = z.object({
  helmEnabled: z.boolean(),
  killSwitch: z.boolean(),
  killSwitchAt: z.date().nullable(),
  gate: z.number(),
  gateOn: z.enum(["lower", "point"]),
  requireBeatsPilot: z.boolean(),
  helmOffAfterS: z.number().int(),
  refuseKeysAfterS: z.number().int(),
  traceRate: z.number(),
  traceDays: z.number().int(),
  traceTextHours: z.number().int(),
  revision: z.number().int(),
  updatedAt: z.date(),
});
export type SettingOut = z.infer<typeof SettingOut>;
