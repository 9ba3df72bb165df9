import { GatewayError } from "../errors/gateway-error";

const RETRY_MS = 1_000;

/** Requests of each tenant that are being served on this node, against what the tenant may have at a time. */
export class TenantQuota {
  private readonly running = new Map<string, number>();

  /** Takes a place until the returned function is called, or refuses with the numbers. Throws GatewayError 429. */
  enter(tenant: { id: string; max_concurrent?: number | null }): () => void {
    const running = this.running.get(tenant.id) ?? 0;
    const limit = tenant.max_concurrent ?? Number.POSITIVE_INFINITY;
    if (running >= limit) throw overQuota(running, limit);
    this.running.set(tenant.id, running + 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const now = (this.running.get(tenant.id) ?? 1) - 1;
      if (now > 0) this.running.set(tenant.id, now);
      else this.running.delete(tenant.id);
    };
  }
}

function overQuota(running: number, limit: number): GatewayError {
  const message = `This tenant may have ${limit} ${limit === 1 ? "request" : "requests"} at a time on this node and has ${running}. Wait for one to end.`;
  return new GatewayError(429, "tenant_quota", message, {
    type: "admission_error",
    helm: { limit, running, retry_after_ms: RETRY_MS },
    headers: { "retry-after": String(RETRY_MS / 1000) },
  });
}
