import type { AuditVerb } from "@helm/contracts";
import type { Context } from "../context";
import { changeRow } from "../revision/change-row";
import type { SettingOut } from "./schema";

export interface SettingChange {
  verb: AuditVerb;
  /** Null: takes effect whatever stands. */
  revision: number | null;
  data: Partial<Omit<SettingOut, "revision" | "updatedAt">>;
}

/** One row, one revision: who edits an old revision is told so and overwrites nothing. */
export function changeSetting(ctx: Context, { verb, revision, data }: SettingChange): Promise<SettingOut> {
  return changeRow(ctx, {
    verb,
    entity: "setting",
    entityId: "1",
    what: "the settings",
    revision,
    read: () => readSetting(ctx),
    write: (where, next) =>
      ctx.db.setting.updateMany({ where: { id: 1, ...where }, data: { ...data, ...next } }),
    audited: ({ updatedAt: _, killSwitchAt: __, ...fields }) => fields,
  });
}

export async function readSetting(ctx: Context): Promise<SettingOut> {
  const { id: _, ...setting } = await ctx.db.setting.findUniqueOrThrow({ where: { id: 1 } });
  return setting;
}
