import { HelmError, Role } from "@helm/contracts";
import { z } from "zod";
import type { Actor } from "../access/actor";
import { plainQuery, router } from "../trpc/procedure";

const Me = z.object({ user: z.object({ id: z.string(), email: z.string(), name: z.string() }), role: Role });

export const sessionRouter = router({
  /** Null for who is not signed in: a console that opens asks, and that is no error. A token that opens nothing is one. */
  current: plainQuery.output(Me.nullable()).query(({ ctx: { actor } }) => {
    if (actor.kind === "anonymous" && actor.refused) throw actor.refused;
    return personOf(actor);
  }),
  me: plainQuery.output(Me).query(({ ctx: { actor } }) => {
    const person = personOf(actor);
    if (!person) throw new HelmError("UNAUTHENTICATED", "Sign in first.");
    return person;
  }),
});

function personOf(actor: Actor): z.infer<typeof Me> | null {
  if (actor.kind !== "person") return null;
  return { user: { id: actor.id, email: actor.email, name: actor.name }, role: actor.role };
}
