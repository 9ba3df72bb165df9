import { randomBytes } from "node:crypto";
import type { Holder } from "./lease-file";
import { ownIdentity } from "./process-identity";

/** This process as the holder of something, told apart from its other holds by an id. */
export function newHolder(purpose: string): Holder {
  return {
    ...ownIdentity(),
    id: randomBytes(8).toString("hex"),
    purpose,
    since: new Date().toISOString(),
  };
}
