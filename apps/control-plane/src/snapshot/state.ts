import { AccessList } from "@helm/contracts";
import type { z } from "zod";
import type { Context } from "../context";
import { databaseNow } from "../database-clock";
import { isConnected } from "../host/list";
import { compileRouting } from "./compile-routing";
import { diffRouting } from "./diff-routing";
import { readAcks } from "./list";
import { readNames } from "./names";
import { readContent } from "./routing-content";
import { readHold } from "./routing-hold";
import type { SnapshotState } from "./schema";

/** What is in force now: the newest generation, whether it is a held rollback, the access list, and where each node stands. */
export async function readSnapshotState(ctx: Context): Promise<z.infer<typeof SnapshotState>> {
  const newest = await ctx.db.routingSnapshot.findFirst({
    orderBy: { generation: "desc" },
    select: { generation: true, createdAt: true },
  });
  const generation = newest?.generation ?? 0;
  const acks = (await readAcks(ctx, [generation])).get(generation) ?? [];
  const hosts = await ctx.db.host.findMany({
    where: { kind: "node", revokedAt: null },
    include: { nodeState: true },
    orderBy: [{ name: "asc" }, { id: "asc" }],
  });
  const now = await databaseNow(ctx.db);
  return {
    generation,
    createdAt: newest?.createdAt ?? null,
    hold: await describeHold(ctx),
    access: await readAccessState(ctx),
    nodes: hosts.map((host) => {
      const answer = acks.find(({ nodeId }) => nodeId === host.id);
      return {
        id: host.id,
        name: host.name,
        connected: isConnected(host, now),
        acked: host.nodeState?.ackedGeneration ?? 0,
        active: host.nodeState?.activeGeneration ?? 0,
        answer: answer ? { ok: answer.ok, reason: answer.reason, kept: answer.kept, at: answer.at } : null,
        access: host.nodeState?.accessVersion ?? 0,
        accessNackReason: host.nodeState?.accessNackReason ?? null,
      };
    }),
  };
}

async function describeHold(ctx: Context): Promise<z.infer<typeof SnapshotState>["hold"]> {
  const hold = await readHold(ctx.db);
  if (!hold) return null;
  const differences = diffRouting(
    readContent(hold.content),
    await compileRouting(ctx.db),
    await readNames(ctx.db),
  );
  return { generation: hold.generation, by: hold.heldBy, at: hold.heldAt, note: hold.note, differences };
}

async function readAccessState(ctx: Context): Promise<z.infer<typeof SnapshotState>["access"]> {
  const newest = await ctx.db.accessListVersion.findFirst({ orderBy: { version: "desc" } });
  const list = newest ? AccessList.parse(JSON.parse(newest.document)) : null;
  return {
    version: newest?.version ?? 0,
    issuedAt: newest?.createdAt ?? null,
    killSwitch: list?.kill_switch ?? false,
    keys: list?.keys.length ?? 0,
    tenants: list?.tenants.length ?? 0,
    helmOffAfterS: list?.helm_off_after_s ?? 0,
    refuseKeysAfterS: list?.refuse_keys_after_s ?? 0,
  };
}
