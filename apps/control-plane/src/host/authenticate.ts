import type { Db } from "@helm/db";
import type { Actor } from "../access/actor";
import { hashSecret, secretsEqual } from "../access/secret";
import { unknownHost } from "./acting-host";
import { noteRequest } from "./presence";

export function bearerOf(header: string | undefined): string {
  const match = /^Bearer (\S+)$/i.exec(header ?? "");
  return match?.[1] ?? "";
}

/** The worker or node behind a credential; every use refreshes when it was last seen. */
export async function authenticateHost(
  db: Db,
  credential: string,
  kind: "worker" | "node",
): Promise<Extract<Actor, { kind: "host" }>> {
  const refused = unknownHost(kind);
  if (credential === "") throw refused;
  const hash = hashSecret(credential);
  const host = await db.host.findUnique({ where: { credentialHash: hash } });
  if (!host || !secretsEqual(host.credentialHash, hash) || host.revokedAt || host.kind !== kind)
    throw refused;
  await noteRequest(db, host.id);
  return { kind: "host", hostKind: kind, id: host.id, name: host.name };
}
