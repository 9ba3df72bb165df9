import { Role } from "@helm/contracts";
import { z } from "zod";
import type { Context } from "../context";

export const PersonOut = z.object({
  id: z.uuid(),
  name: z.string(),
  email: z.string(),
  role: Role,
  /** ACTIVE: may sign in. INVITED: has no password yet. DISABLED: is let in nowhere. */
  state: z.enum(["ACTIVE", "INVITED", "DISABLED"]),
  createdAt: z.date(),
  lastSignInAt: z.date().nullable(),
  /** Live ones. */
  sessions: z.number().int(),
  tokens: z.number().int(),
  /** The open invitation, if there is one; it may have expired. */
  invitation: z.object({ id: z.uuid(), expiresAt: z.date() }).nullable(),
  revision: z.number().int(),
});
export type PersonOut = z.infer<typeof PersonOut>;

/** What a new or reset sign-in needs: a link for one use, shown this once. */
export const InvitedOutput = z.object({ person: PersonOut, link: z.string(), expiresAt: z.date() });

export async function readPeople(ctx: Context, where: { id?: string } = {}): Promise<PersonOut[]> {
  const now = new Date();
  const people = await ctx.db.user.findMany({
    where,
    include: {
      accounts: { where: { providerId: "credential", password: { not: null } }, select: { id: true } },
      sessions: { where: { expiresAt: { gt: now } }, select: { id: true } },
      tokens: { where: { revokedAt: null, expiresAt: { gt: now } }, select: { id: true } },
      invitations: {
        where: { usedAt: null, cancelledAt: null },
        select: { id: true, expiresAt: true },
        take: 1,
      },
    },
    orderBy: [{ email: "asc" }],
  });
  return people.map((person) => ({
    id: person.id,
    name: person.name,
    email: person.email,
    role: person.role,
    state: person.disabledAt ? "DISABLED" : person.accounts.length > 0 ? "ACTIVE" : "INVITED",
    createdAt: person.createdAt,
    lastSignInAt: person.lastSignInAt,
    sessions: person.sessions.length,
    tokens: person.tokens.length,
    invitation: person.invitations[0] ?? null,
    revision: person.revision,
  }));
}

export async function readPerson(ctx: Context, id: string): Promise<PersonOut> {
  const [person] = await readPeople(ctx, { id });
  if (!person) throw new Error(`no person ${id}`);
  return person;
}
