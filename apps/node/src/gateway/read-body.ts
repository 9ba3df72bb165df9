import type { IncomingMessage } from "node:http";
import type { JsonBody } from "../engine/engine-client";
import { GatewayError } from "./gateway-error";

export interface ReadBody {
  body: JsonBody;
  /** Of the text as it came. */
  bytes: number;
}

/** The JSON object of a request; the server's own request timeout bounds the wait. Throws GatewayError 400 or 413. */
export async function readJsonBody(request: IncomingMessage, maxBytes: number): Promise<ReadBody> {
  const read = await readBytes(request, maxBytes);
  const text = read.toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new GatewayError(400, "invalid_json", "The request body is not valid JSON.");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new GatewayError(400, "invalid_json", "The request body must be a JSON object.");
  }
  return { body: value as JsonBody, bytes: read.length };
}

async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const parts: Buffer[] = [];
  let size = 0;
  // Left whole when it is too large, so that the refusal can still be sent over it.
  for await (const part of request.iterator({ destroyOnReturn: false })) {
    size += (part as Buffer).length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    parts.push(part as Buffer);
  }
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
}

function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError(413, "body_too_large", `A request body has at most ${maxBytes} bytes.`, {
    headers: { connection: "close" },
  });
}
