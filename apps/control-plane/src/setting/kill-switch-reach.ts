import { z } from "zod";
import type { Context } from "../context";
import { databaseNow } from "../database-clock";
import { isConnected } from "../host/list";

export const KillSwitchReach = z.object({
  on: z.boolean(),
  /** When it was pulled or released last; null before the first time. */
  at: z.date().nullable(),
  nodes: z.array(
    z.object({
      id: z.uuid(),
      name: z.string(),
      connected: z.boolean(),
      took: z.boolean(),
      /** From the change to the node's ack; null where no ack of that time is kept. */
      ms: z.number().int().nullable(),
    }),
  ),
});

/** Which nodes took the kill switch as it stands now, and how long each needed. */
export async function readKillSwitchReach(ctx: Context): Promise<z.infer<typeof KillSwitchReach>> {
  const { killSwitch: on, killSwitchAt: at } = await ctx.db.setting.findUniqueOrThrow({ where: { id: 1 } });
  const hosts = await ctx.db.host.findMany({
    where: { kind: "node", revokedAt: null },
    include: { nodeState: { select: { accessVersion: true } } },
    orderBy: [{ name: "asc" }, { id: "asc" }],
  });
  // The change's own access list was written in its transaction, a moment after the change was stamped.
  const list = await ctx.db.accessListVersion.findFirst({
    where: at ? { createdAt: { gte: at } } : {},
    orderBy: { version: at ? "asc" : "desc" },
    select: { version: true },
  });
  const version = list?.version ?? 0;
  const acks = await ctx.db.nodeAck.findMany({
    where: { kind: "access_list", ok: true, generation: { gte: version } },
    orderBy: { at: "asc" },
  });
  const now = await databaseNow(ctx.db);
  return {
    on,
    at,
    nodes: hosts.map((host) => {
      const ack = acks.find((found) => found.nodeId === host.id);
      return {
        id: host.id,
        name: host.name,
        connected: isConnected(host, now),
        took: ack !== undefined || (host.nodeState?.accessVersion ?? 0) >= version,
        ms: ack && at ? Math.max(0, ack.at.getTime() - at.getTime()) : null,
      };
    }),
  };
}
