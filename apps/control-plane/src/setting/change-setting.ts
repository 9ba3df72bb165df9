import { HelmError } from "@helm/contracts";
import { writeAudit } from "../audit/write-audit";
import type { Context } from "../context";

export interface SettingChange {
  verb: string;
  revision: number;
  data: { helmEnabled?: boolean; killSwitch?: boolean };
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
  const { helmEnabled, killSwitch } = before;
  await writeAudit(ctx, {
    verb: change.verb,
    entity: "setting",
    entityId: "1",
    before: { helmEnabled, killSwitch, revision: before.revision },
    after: { helmEnabled: after.helmEnabled, killSwitch: after.killSwitch, revision: after.revision },
  });
  return after;
}
