import type { SignedDocument } from "@helm/contracts";
import type { Tx } from "../context";

export interface NewestDocuments {
  generation: number;
  snapshot: SignedDocument;
  version: number;
  accessList: SignedDocument;
}

/** Both documents as signed, or null before the first boot has published them. */
export async function readNewestDocuments(db: Tx): Promise<NewestDocuments | null> {
  const snapshot = await db.routingSnapshot.findFirst({ orderBy: { generation: "desc" } });
  const access = await db.accessListVersion.findFirst({ orderBy: { version: "desc" } });
  if (!snapshot || !access) return null;
  return {
    generation: snapshot.generation,
    snapshot: { document: snapshot.document, sha256: snapshot.sha256, signature: snapshot.signature },
    version: access.version,
    accessList: { document: access.document, sha256: access.sha256, signature: access.signature },
  };
}
