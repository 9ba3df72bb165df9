import { Role } from "@helm/contracts";
import type { PersonActor } from "../access/actor";
import type { Services } from "../context";
import { requireDatabase } from "../health/database";
import { storageTrouble } from "../trpc/storage-trouble";
import type { Auth } from "./auth";

type Asked = Pick<Services, "db" | "config">;

export interface SessionFound {
  actor: PersonActor & { sessionId: string };
  expiresAt: Date;
}

/** The person behind a cookie or a session's bearer token, read from the database each time: an ended session is ended
 * at once. Personal tokens open nothing here. */
export async function readSession(auth: Auth, given: Headers, services: Asked): Promise<SessionFound | null> {
  if (!given.has("cookie") && !given.has("authorization")) return null;
  const headers = new Headers(given);
  // Who shows a token is who the token says; a cookie that rides along lends it nothing.
  if (headers.has("authorization")) headers.delete("cookie");
  const found = await auth.api.getSession({ headers }).catch(async (error: unknown) => {
    if (!storageTrouble(error)) await requireDatabase(services);
    throw error;
  });
  // "No session" is believed only of a database that answers: else everybody would be signed out while it is away.
  if (!found) await requireDatabase(services);
  if (!found || found.user.disabledAt) return null;
  const { user, session } = found;
  return {
    actor: {
      kind: "person",
      id: user.id,
      name: user.name,
      email: user.email,
      role: Role.parse(user.role),
      sessionId: session.id,
    },
    expiresAt: session.expiresAt,
  };
}
