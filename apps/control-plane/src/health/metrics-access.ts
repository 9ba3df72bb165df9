import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { HelmError } from "@helm/contracts";
import { type Config, isLoopback } from "../config";
import { bearerOf } from "../host/authenticate";

const viaProxy = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

type Reach = Pick<Config, "metricsToken" | "bind" | "publicUrl">;

/**
 * The operator's token opens the metrics. Without one, only who asks from this machine and not through a proxy, and only
 * where nobody beyond it is served: a proxy on this machine that adds no header looks the same as a person on it.
 */
export function requireMetricsAccess(
  req: IncomingMessage,
  { metricsToken: token, bind, publicUrl }: Reach,
): void {
  const local = isLoopback(bind) && isLoopback(new URL(publicUrl).hostname);
  if (token !== undefined) {
    const given = bearerOf(req.headers.authorization);
    if (given && timingSafeEqual(digest(given), digest(token))) return;
  } else if (
    local &&
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
