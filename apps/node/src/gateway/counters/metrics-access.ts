import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { bearerOf } from "../../config/access";
import { GatewayError } from "../errors/gateway-error";

/** Who may read the metrics: they name tenants, and no tenant's key opens them. */
export interface MetricsAccess {
  /** An operator's token; with one, nothing else opens them. */
  token: string | null;
  /** The gateway is reached from this machine alone: no proxy in front, bound to loopback. */
  local: boolean;
}

const loopback = new Set(["127.0.0.1", "::1", "::ffff:127.0.0.1"]);
const viaProxy = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

/** Errors: GatewayError 401 with the variable to set. */
export function requireMetricsAccess(access: MetricsAccess, request: IncomingMessage): void {
  if (access.token !== null) {
    const given = bearerOf(request.headers.authorization);
    if (given !== null && sameText(given, access.token)) return;
  } else if (
    access.local &&
    loopback.has(request.socket.remoteAddress ?? "") &&
    viaProxy.every((name) => request.headers[name] === undefined)
  ) {
    return;
  }
  throw new GatewayError(
    401,
    "metrics_token_required",
    "The metrics need the operator's token (HELM_METRICS_TOKEN on the node) as a bearer token.",
    { type: "authentication_error", headers: { "www-authenticate": "Bearer" } },
  );
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [a, b].map((text) => createHash("sha256").update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}
