import { createHash, createHmac, randomBytes } from "node:crypto";

const MOST_NATIVES = 10_000;

/**
 * Cache salts and staging marks of this node. The key lives as long as the process: an engine's cache does not outlive
 * it either, and nobody outside can compute a salt.
 */
export class Salts {
  private readonly key = randomBytes(32);
  private readonly natives = new Map<string, string>();

  /** Partition of a tenant's own, native blocks. */
  native(tenant: string): string {
    const known = this.natives.get(tenant);
    if (known !== undefined) return known;
    // Tenants come and go; one that is asked for again is computed again.
    if (this.natives.size >= MOST_NATIVES) this.natives.clear();
    const made = this.mac("native", tenant);
    this.natives.set(tenant, made);
    return made;
  }

  /** Partition of mapped blocks: no native request and no other conversation can find them. */
  mapped(tenant: string, conversation: string, mapper: string, revisions: string): string {
    return this.mac("xkv", tenant, conversation, mapper, revisions);
  }

  /** One use, 128 random bits. */
  newHandle(): string {
    return randomBytes(16).toString("hex");
  }

  /** Ties a staged cache to its tenant, its exact prompt and the mapper it is meant for. */
  stagingMac(tenant: string, tokens: readonly number[], mapper: string): string {
    const ids = createHash("sha256").update(Uint32Array.from(tokens)).digest("hex");
    return this.mac("stage", tenant, ids, mapper);
  }

  /** Parts are length-prefixed, so that no two lists of parts give the same text. */
  private mac(...parts: string[]): string {
    const hmac = createHmac("sha256", this.key);
    for (const part of parts) hmac.update(`${Buffer.byteLength(part)}:${part}`);
    return hmac.digest("hex");
  }
}
