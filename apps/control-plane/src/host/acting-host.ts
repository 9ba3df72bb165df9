import { HelmError } from "@helm/contracts";
import type { Actor } from "../access/actor";
import type { Context } from "../context";

type HostKind = "worker" | "node";
type HostActor = Extract<Actor, { kind: "host" }>;

/** Verbs of workers and nodes are closed to everyone else, whatever door they came through. */
export function actingHost(ctx: Context, kind: HostKind): HostActor {
  if (ctx.actor.kind === "host" && ctx.actor.hostKind === kind) return ctx.actor;
  throw new HelmError("FORBIDDEN", `This is open to ${kind}s only.`);
}

/** As actingHost, of a host that is not revoked now: its request may have begun long before, with a body of hours. */
export async function standingHost(ctx: Context, kind: HostKind): Promise<HostActor> {
  const actor = actingHost(ctx, kind);
  if (actor.recorder) return actor;
  const row = await ctx.db.host.findUnique({ where: { id: actor.id }, select: { revokedAt: true } });
  if (!row || row.revokedAt) throw unknownHost(kind);
  return actor;
}

export function unknownHost(kind: HostKind): HelmError {
  return new HelmError("UNAUTHENTICATED", `This ${kind} is not known here any more. Join it again.`);
}
