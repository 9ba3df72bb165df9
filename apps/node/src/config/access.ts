import { hash as digestOf, timingSafeEqual } from "node:crypto";
import type { AccessList } from "@helm/contracts";

export type Tenant = AccessList["tenants"][number];

/** The access list, indexed for one look-up a request. */
export class AccessIndex {
  private readonly byPrefix = new Map<string, { hash: Buffer; key: AccessList["keys"][number] }[]>();
  private readonly tenants: Map<string, Tenant>;

  constructor(readonly list: AccessList) {
    this.tenants = new Map(list.tenants.map((tenant) => [tenant.id, tenant]));
    for (const key of list.keys) {
      const entry = { hash: Buffer.from(key.hash, "hex"), key };
      const prefix = keyPrefix(key.prefix);
      const found = this.byPrefix.get(prefix);
      if (found) found.push(entry);
      else this.byPrefix.set(prefix, [entry]);
    }
  }

  /** The tenant of a presented key, see `keyOf`. */
  tenantOf(presented: string, now: Date): Tenant | null {
    return this.keyOf(presented, now)?.tenant ?? null;
  }

  /**
   * The key that was presented, with its tenant, or null. The prefix is no secret and only narrows the search; the hashes are compared in
   * constant time, and an unknown prefix costs one comparison too.
   */
  keyOf(presented: string, now: Date): { tenant: Tenant; prefix: string } | null {
    const hash = digestOf("sha256", presented, "buffer");
    let match: AccessList["keys"][number] | null = null;
    for (const entry of this.byPrefix.get(keyPrefix(presented)) ?? [decoy]) {
      if (entry.hash.length === hash.length && timingSafeEqual(entry.hash, hash)) match = entry.key;
    }
    if (!match || (match.expires_at !== null && new Date(match.expires_at) <= now)) return null;
    const tenant = this.tenants.get(match.tenant_id);
    return tenant ? { tenant, prefix: match.prefix } : null;
  }
}

const decoy = { hash: Buffer.alloc(32), key: null };

/** Of `hlm_<prefix>_<secret>` or `hlm_<prefix>`: the part after the first underscore. */
export function keyPrefix(key: string): string {
  return key.split("_", 2)[1] ?? key;
}

export function bearerOf(authorization: string | undefined): string | null {
  const match = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(authorization ?? "");
  return match?.[1] ?? null;
}
