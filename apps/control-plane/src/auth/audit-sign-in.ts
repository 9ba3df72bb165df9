import type { Db } from "@helm/db";
import { addressBlock } from "../access/address-block";
import { countTry } from "../access/rate-limit";
import { ADDRESS_HEADER, REQUEST_ID_HEADER } from "./own-headers";

interface Session {
  id: string;
  userId: string;
  ipAddress?: string | null;
}

/** Who came and went, beside what they changed. The session's token stays out of it. */
export async function auditSession(
  db: Db,
  verb: "session.signIn" | "session.signOut",
  session: Session,
  headers: Headers | undefined,
): Promise<void> {
  const user = await db.user.findUnique({ where: { id: session.userId }, select: { email: true } });
  await db.auditEntry.create({
    data: {
      actorKind: "person",
      actorId: session.userId,
      actorName: user?.email ?? "unknown",
      verb,
      entity: "session",
      entityId: session.id,
      after: { address: session.ipAddress ?? null },
      requestId: headers?.get(REQUEST_ID_HEADER) ?? "",
    },
  });
}

/** Rows that somebody without an account can make us write: so many a minute from one address, and from all. */
const FROM_ONE = { max: 10, windowMs: 60_000 };
const FROM_ALL = { max: 100, windowMs: 60_000 };

/** The address typed is named only where it is somebody's: people type passwords into the wrong field. */
export async function noteFailedSignIn(
  db: Db,
  { email, limited, headers }: { email: string; limited: boolean; headers: Headers | undefined },
): Promise<void> {
  const address = headers?.get(ADDRESS_HEADER) ?? "unknown";
  const bounded = await countTry(db, `audit-sign-in:${addressBlock(address)}`, FROM_ONE)
    .then(() => countTry(db, "audit-sign-in", FROM_ALL))
    .then(
      () => true,
      () => false,
    );
  if (!bounded) return;
  const user = await db.user.findUnique({ where: { email }, select: { id: true, email: true } });
  await db.auditEntry.create({
    data: {
      actorKind: "anonymous",
      actorId: null,
      actorName: "nobody",
      verb: "session.signInFailed",
      entity: "session",
      entityId: user?.id ?? "",
      after: { address, as: user?.email ?? "no account", limited },
      requestId: headers?.get(REQUEST_ID_HEADER) ?? "",
    },
  });
}
