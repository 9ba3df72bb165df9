import { HelmError, Role } from "@helm/contracts";
import { z } from "zod";
import { actingPerson } from "../access/acting-person";
import { withPassword } from "../auth/password";
import type { Context } from "../context";

export const AccountOut = z.object({
  id: z.uuid(),
  name: z.string(),
  email: z.string(),
  role: Role,
  createdAt: z.date(),
  lastSignInAt: z.date().nullable(),
  hasPassword: z.boolean(),
  /** How this request was signed. */
  by: z.enum(["session", "token"]),
  token: z
    .object({ id: z.uuid(), name: z.string(), start: z.string(), expiresAt: z.date().nullable() })
    .nullable(),
});

export async function getAccount(ctx: Context): Promise<z.infer<typeof AccountOut>> {
  const actor = actingPerson(ctx);
  const user = await ctx.db.user.findUnique({ where: { id: actor.id } });
  if (!user) throw new HelmError("NOT_FOUND", "This account does not exist any more. Sign in again.");
  const token = actor.tokenId
    ? await ctx.db.personalToken.findUnique({ where: { id: actor.tokenId } })
    : null;
  return {
    id: user.id,
    name: user.name,
    email: user.email,
    role: user.role,
    createdAt: user.createdAt,
    lastSignInAt: user.lastSignInAt,
    hasPassword: (await ctx.db.user.count({ where: { id: user.id, accounts: withPassword } })) > 0,
    by: actor.tokenId ? "token" : "session",
    token: token && {
      id: token.id,
      name: token.name ?? "",
      start: token.start ?? "",
      expiresAt: token.expiresAt,
    },
  };
}
