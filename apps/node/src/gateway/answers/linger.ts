import type { IncomingMessage } from "node:http";

/** So long what a refused client still sends is thrown away, so that it reads the refusal and not a reset connection. */
const LINGER_MS = 5_000;

/** Resolves when the client has sent all of its request, has left, or has sent on for too long. Holds none of it. */
export async function lingerFor(request: IncomingMessage, ms = LINGER_MS): Promise<void> {
  if (request.complete || request.destroyed) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    const over = () => {
      clearTimeout(timer);
      resolve();
    };
    request.once("end", over).once("close", over).once("error", over).resume();
  });
}
