import type { Context } from "../context";
import { databaseNow, later } from "../database-clock";
import { RUN_KEPT_MS } from "./schema";

export async function expireRuns(ctx: Context): Promise<number> {
  const createdAt = { lt: later(await databaseNow(ctx.db), -RUN_KEPT_MS) };
  return (await ctx.db.playgroundRun.deleteMany({ where: { createdAt } })).count;
}
