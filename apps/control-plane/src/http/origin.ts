import type { IncomingMessage } from "node:http";
import { HelmError } from "@helm/contracts";

/** Browsers name their origin on every state-changing request. One that a cookie signs must name the console's own;
 * a bearer token is no cookie and cannot be sent by another site. */
export function requireOwnOrigin(req: IncomingMessage, origins: string[]): void {
  if (req.method === "GET" || req.method === "HEAD" || req.method === "OPTIONS") return;
  const origin = req.headers.origin;
  // A browser says by itself where a request comes from, also where it leaves the origin out.
  const site = req.headers["sec-fetch-site"];
  const foreign = site !== undefined && site !== "same-origin";
  if (!foreign && origin === undefined && req.headers.cookie === undefined) return;
  if (!foreign && origin !== undefined && origins.includes(origin)) return;
  throw new HelmError("FORBIDDEN", "This request does not come from the console's own address.", {
    origin: origin ?? null,
  });
}

/** Sockets: a handshake may lack an origin (same-origin polling, workers), but never name another site's. */
export function socketOriginAllowed(req: IncomingMessage, origins: string[]): boolean {
  return req.headers.origin === undefined || origins.includes(req.headers.origin);
}
