import { type IncomingMessage, Server } from "node:http";
import { CONSOLE_SECRET_HEADER } from "@helm/contracts";

type Emit = (this: unknown, event: string | symbol, ...args: unknown[]) => boolean;

/** Next.js passes on what a caller wrote; only the socket, which proxy.ts cannot see, says who it was. */
export function nameCaller({ headers, socket }: IncomingMessage, secret: string): void {
  const chain = headers["x-forwarded-for"];
  const before = Array.isArray(chain) ? chain.join(", ") : chain;
  headers["x-forwarded-for"] = [before, socket.remoteAddress ?? "unknown"].filter(Boolean).join(", ");
  headers[CONSOLE_SECRET_HEADER] = secret;
}

/** Names the caller of everything that this process's servers get, sockets' handshakes included. */
export function nameCallers(secret: string): void {
  const server = Server.prototype as unknown as { emit: Emit };
  const emit = server.emit;
  server.emit = function named(event, ...args) {
    if (event === "request" || event === "upgrade") nameCaller(args[0] as IncomingMessage, secret);
    return emit.call(this, event, ...args);
  };
}
