import type { IncomingMessage } from "node:http";
import { isLoopback } from "../config";

/** A forwarded address is believed from this machine's own console alone; anyone else is who the socket says. */
export function callerAddress(req: IncomingMessage): string {
  const remote = (req.socket.remoteAddress ?? "unknown").replace(/^::ffff:/, "");
  if (!isLoopback(remote)) return remote;
  const forwarded = req.headers["x-forwarded-for"];
  const last = (Array.isArray(forwarded) ? forwarded.join(",") : forwarded)?.split(",").at(-1)?.trim();
  return last && /^[0-9a-fA-F.:]+$/.test(last) ? last : remote;
}

export function toHeaders(req: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(req.headers)) {
    if (typeof value === "string") headers.set(name, value);
    else for (const part of value ?? []) headers.append(name, part);
  }
  return headers;
}
