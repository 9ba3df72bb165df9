import { HelmError, Role } from "@helm/contracts";
import { z } from "zod";
import { plainQuery, router } from "../trpc/procedure";

const Me = z.object({ user: z.object({ id: z.string(), email: z.string(), name: z.string() }), role: Role });

export const sessionRouter = router({
  me: plainQuery.output(Me).query(({ ctx: { actor } }) => {
    if (actor.kind !== "person") throw new HelmError("UNAUTHENTICATED", "Sign in first.");
    return { user: { id: actor.id, email: actor.email, name: actor.name }, role: actor.role };
  }),
});
