import { createHash, generateKeyPairSync, sign } from "node:crypto";
import type { AccessList, RoutingSnapshot, SignedDocument } from "@helm/contracts";

/** A control plane's signing key, made for one test. */
export function makeSigner() {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return {
    publicKey: publicKey.export({ type: "spki", format: "pem" }).toString(),
    sign: (content: unknown): SignedDocument => {
      const document = JSON.stringify(content);
      const bytes = Buffer.from(document);
      return {
        document,
        sha256: createHash("sha256").update(bytes).digest("hex"),
        signature: sign(null, bytes, privateKey).toString("base64"),
      };
    },
  };
}

export function snapshotOf(generation: number, over: Partial<RoutingSnapshot> = {}): RoutingSnapshot {
  return {
    kind: "routing_snapshot",
    schema: 1,
    generation,
    created_at: new Date().toISOString(),
    helm_enabled: true,
    routes: [],
    pairs: [],
    ...over,
  };
}

export function accessOf(version: number, over: Partial<AccessList> = {}): AccessList {
  return {
    kind: "access_list",
    schema: 1,
    version,
    issued_at: new Date().toISOString(),
    kill_switch: false,
    helm_off_after_s: 86_400,
    refuse_keys_after_s: 604_800,
    keys: [],
    tenants: [],
    ...over,
  };
}
