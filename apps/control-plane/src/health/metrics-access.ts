import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { HelmError } from "@helm/contracts";
import { isLoopback } from "../config";
import { bearerOf } from "../host/authenticate";

const viaProxy = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

/** The operator's token opens the metrics; without one, only who asks from this machine and not through a proxy. */
export function requireMetricsAccess(req: IncomingMessage, token: string | undefined): void {
  if (token !== undefined) {
    const given = bearerOf(req.headers.authorization);
    if (given && timingSafeEqual(digest(given), digest(token))) return;
  } else if (
    isLoopback((req.socket.remoteAddress ?? "").replace(/^::ffff:/, "")) &&
    viaProxy.every((name) => req.headers[name] === undefined)
  ) {
    return;
  }
  throw new HelmError("UNAUTHENTICATED", "The metrics need the operator's token (HELM_METRICS_TOKEN).");
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
