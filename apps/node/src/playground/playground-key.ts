import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { PLAYGROUND_TENANT } from "@helm/contracts";
import { bearerOf, type Tenant } from "../config/access";

/** What the node asks its own gateway with: made for one life of the process, and told to nobody. */
export class PlaygroundKey {
  readonly secret = randomBytes(32).toString("hex");
  private readonly hash = digest(this.secret);
  private readonly tenant: Tenant = { id: PLAYGROUND_TENANT, name: "Playground", enabled: true };

  tenantOf(authorization: string | undefined): Tenant | null {
    const presented = bearerOf(authorization);
    return presented !== null && timingSafeEqual(digest(presented), this.hash) ? this.tenant : null;
  }
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
