import { HelmError } from "@helm/contracts";
import type { Actor } from "../access/actor";
import type { Context } from "../context";

/** Verbs of workers and nodes are closed to everyone else, whatever door they came through. */
export function actingHost(ctx: Context, kind: "worker" | "node"): Extract<Actor, { kind: "host" }> {
  if (ctx.actor.kind === "host" && ctx.actor.hostKind === kind) return ctx.actor;
  throw new HelmError("FORBIDDEN", `This is open to ${kind}s only.`);
}
