import { HelmError } from "@helm/contracts";
import type { Context } from "../context";
import type { PersonActor } from "./actor";

/** Verbs about oneself need somebody. */
export function actingPerson(ctx: Context): PersonActor {
  if (ctx.actor.kind === "person") return ctx.actor;
  throw new HelmError("UNAUTHENTICATED", "Sign in first.");
}
