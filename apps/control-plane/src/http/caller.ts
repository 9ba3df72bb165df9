import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";

/**
 * Who asks: the socket's other end, or, where that is a proxy we were told to trust, whom it names. A chain is read
 * from its end, as far as it consists of trusted proxies; what stands before them anyone can have written.
 */
export function callerAddress(req: IncomingMessage, trustedProxies: readonly string[]): string {
  let address = plain(req.socket.remoteAddress ?? "unknown");
  const header = req.headers["x-forwarded-for"];
  const chain = (Array.isArray(header) ? header.join(",") : (header ?? "")).split(",");
  while (trustedProxies.includes(address)) {
    const before = plain(chain.pop()?.trim() ?? "");
    if (isIP(before) === 0) break;
    address = before;
  }
  return address;
}

/** An IPv4 address inside an IPv6 one is the IPv4 address. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

export function toHeaders(req: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(req.headers)) {
    if (typeof value === "string") headers.set(name, value);
    else for (const part of value ?? []) headers.append(name, part);
  }
  return headers;
}
