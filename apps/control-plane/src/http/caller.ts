import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { CONSOLE_SECRET_HEADER } from "@helm/contracts";
import { secretsEqual } from "../access/secret";
import type { Config } from "../config";

/**
 * Who asks: the socket's other end, or whom the console names, or a proxy we were told to trust. A chain is read from
 * its end, as far as it consists of those; what stands before them anyone can have written. The console is known by
 * its secret, not by its address: others may share that.
 */
export function callerAddress(
  req: IncomingMessage,
  { consoleSecret, trustedProxies }: Pick<Config, "consoleSecret" | "trustedProxies">,
): string {
  const header = req.headers["x-forwarded-for"];
  const chain = (Array.isArray(header) ? header.join(",") : (header ?? "")).split(",");
  let address = plain(req.socket.remoteAddress ?? "unknown");
  let believed = isConsole(req, consoleSecret) || trustedProxies.includes(address);
  while (believed) {
    const before = plain(chain.pop()?.trim() ?? "");
    if (isIP(before) === 0) break;
    address = before;
    believed = trustedProxies.includes(address);
  }
  return address;
}

function isConsole(req: IncomingMessage, secret: string | undefined): boolean {
  const given = req.headers[CONSOLE_SECRET_HEADER];
  return secret !== undefined && typeof given === "string" && secretsEqual(given, secret);
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
