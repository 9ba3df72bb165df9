import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { JsonBody } from "../../engine/engine-client";
import { GatewayError } from "../errors/gateway-error";
import type { BodyHold } from "./body-room";
import { DEEPEST, weighBody } from "./body-weight";
import { MOST_PARTS, scanBody } from "./scan-body";

export interface ReadBody {
  body: JsonBody;
  /** Of the text as it came. */
  bytes: number;
}

export interface BodyLimits {
  maxBodyBytes: number;
  /** From the request's head to the last byte of its body, however it comes in. */
  bodyMs: number;
}

/** The JSON object of a request. Throws GatewayError 400, 408, 413 or 503. */
export async function readJsonBody(
  request: IncomingMessage,
  limits: BodyLimits,
  hold: BodyHold,
): Promise<ReadBody> {
  const read = await readBytes(request, limits, hold);
  // What is no UTF-8 would grow as it is read, and be another text than was sent.
  if (!isUtf8(read)) throw notJson("The request body is not valid UTF-8.");
  const { parts, mostWritten } = scanBody(read);
  if (parts > MOST_PARTS) throw tooManyParts();
  let value: unknown;
  try {
    value = JSON.parse(read.toString("utf8"));
  } catch {
    throw notJson("The request body is not valid JSON.");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw notJson("The request body must be a JSON object.");
  }
  const weight = weighBody(value);
  if (weight === null) throw notJson(`The request body is nested deeper than ${DEEPEST} levels.`);
  // The engine is sent the body as it is written out here, and has the same bound.
  const { maxBodyBytes } = limits;
  if (mostWritten > maxBodyBytes && Buffer.byteLength(JSON.stringify(value)) > maxBodyBytes)
    throw tooLarge(maxBodyBytes, " once its numbers are written out");
  hold.take(weight);
  return { body: value as JsonBody, bytes: read.length };
}

function notJson(message: string): GatewayError {
  return new GatewayError(400, "invalid_json", message);
}

/** By events and one promise: an iterator costs every request as much as reading its JSON. */
function readBytes(request: IncomingMessage, limits: BodyLimits, hold: BodyHold): Promise<Buffer> {
  const { maxBodyBytes, bodyMs } = limits;
  return new Promise((resolve, reject) => {
    if (Number(request.headers["content-length"] ?? 0) > maxBodyBytes) return reject(tooLarge(maxBodyBytes));
    const parts: Buffer[] = [];
    let size = 0;
    const leave = () => {
      clearTimeout(timer);
      request.off("data", take).off("end", end).off("error", refuse).off("close", close);
    };
    // Left whole, so that the refusal can still be sent over it.
    const refuse = (error: unknown) => {
      leave();
      request.pause();
      reject(error);
    };
    const take = (part: Buffer) => {
      size += part.length;
      if (size > maxBodyBytes) return refuse(tooLarge(maxBodyBytes));
      try {
        hold.take(part.length);
      } catch (error) {
        return refuse(error);
      }
      parts.push(part);
    };
    const end = () => {
      leave();
      resolve(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts));
    };
    const close = () => refuse(new Error("the client went away before its request was whole"));
    const timer = setTimeout(() => refuse(tooSlow(bodyMs)), bodyMs);
    if (request.destroyed) return close();
    request.on("data", take).on("end", end).on("error", refuse).on("close", close);
  });
}

const closing = { headers: { connection: "close" } };

function tooLarge(maxBytes: number, when = ""): GatewayError {
  return new GatewayError(
    413,
    "body_too_large",
    `A request body has at most ${maxBytes} bytes${when}.`,
    closing,
  );
}

function tooManyParts(): GatewayError {
  return new GatewayError(
    413,
    "body_too_complex",
    `A request body has at most ${MOST_PARTS} parts: an item or a text counts 1, an object, a list or a property 4. Send it in several requests.`,
  );
}

function tooSlow(bodyMs: number): GatewayError {
  const message = `The request body did not arrive within ${bodyMs} ms.`;
  return new GatewayError(408, "body_timeout", message, { type: "timeout_error", ...closing });
}
