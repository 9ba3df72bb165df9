import type { IncomingMessage, ServerResponse } from "node:http";

export interface BodyLimits {
  /** A body must be whole within this long ... */
  bodyMs: number;
  /** ... except an upload, which may take as long as it likes but must keep coming. */
  uploadStallMs: number;
  /** ... at this pace at least, so that nobody holds a place with a trickle. */
  uploadBytesPerSecond: number;
}

/**
 * Answers 408 and hangs up on who sends a body too slowly. The server itself sets no time for a whole request: that
 * would have to be long enough for the longest upload, and then anyone could hold a connection that long.
 */
export function boundBody(
  req: IncomingMessage,
  res: ServerResponse,
  limits: BodyLimits,
  upload: boolean,
): void {
  if (req.complete) return;
  const least = (limits.uploadBytesPerSecond * limits.uploadStallMs) / 1000;
  let seen = req.socket.bytesRead;
  const timer = upload
    ? setInterval(() => {
        // Bytes that wait for us to take them say that we are slow, not the sender.
        const waiting = req.readableLength > 0;
        if (req.socket.bytesRead - seen < least && !waiting) cutOff(req, res);
        seen = req.socket.bytesRead;
      }, limits.uploadStallMs)
    : setTimeout(() => cutOff(req, res), limits.bodyMs);
  timer.unref();
  const stop = () => clearTimeout(timer);
  req.once("end", stop);
  req.once("close", stop);
}

function cutOff(req: IncomingMessage, res: ServerResponse): void {
  if (req.complete) return;
  if (res.headersSent) {
    req.socket.destroy();
    return;
  }
  const error = { code: "BAD_REQUEST", message: "The body did not arrive in time.", details: {} };
  res.once("finish", () => req.socket.destroy());
  res.writeHead(408, { "content-type": "application/json; charset=utf-8", connection: "close" });
  res.end(JSON.stringify({ error }));
}
