import { HelmError } from "@helm/contracts";
import type { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import type { Context } from "../context";
import type { SettingOut } from "./schema";

type Setting = Omit<z.infer<typeof SettingOut>, "revision" | "updatedAt">;

export interface SettingChange {
  verb: string;
  revision: number;
  data: Partial<Setting>;
}

/** One row, one revision: who edits an old revision is told so and overwrites nothing. */
export async function changeSetting(ctx: Context, change: SettingChange) {
  const before = await ctx.db.setting.findUniqueOrThrow({ where: { id: 1 } });
  const changed = await ctx.db.setting.updateMany({
    where: { id: 1, revision: change.revision },
    data: { ...change.data, revision: { increment: 1 } },
  });
  if (changed.count === 0) {
    throw new HelmError("CONFLICT", "Someone else changed the settings meanwhile. Look at them again.", {
      revision: before.revision,
    });
  }
  const after = await ctx.db.setting.findUniqueOrThrow({ where: { id: 1 } });
  await writeAudit(ctx, {
    verb: change.verb,
    entity: "setting",
    entityId: "1",
    before: audited(before),
    after: audited(after),
  });
  return after;
}

function audited({
  id: _,
  updatedAt: __,
  ...fields
}: { id: number; updatedAt: Date } & Record<string, unknown>) {
  return fields;
}
