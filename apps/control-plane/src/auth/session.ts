import { Role } from "@helm/contracts";
import type { Actor } from "../access/actor";
import type { Auth } from "./auth";

export interface SessionFound {
  actor: Extract<Actor, { kind: "person" }>;
  expiresAt: Date;
}

/** The person behind a cookie or a bearer token, read from the database each time: an ended session is ended at once. */
export async function readSession(auth: Auth, headers: Headers): Promise<SessionFound | null> {
  if (!headers.has("cookie") && !headers.has("authorization")) return null;
  const found = await auth.api.getSession({ headers });
  if (!found) return null;
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
