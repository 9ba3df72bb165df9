import type { IncomingMessage } from "node:http";
import { HelmError } from "@helm/contracts";
import type { z } from "zod";
import { requireStorable } from "./storable";

/** Reads a JSON body of at most `maxBytes` and checks it; an empty body reads as {}. */
export async function readJson<S extends z.ZodType>(
  req: IncomingMessage,
  schema: S,
  maxBytes: number,
): Promise<z.infer<S>> {
  const declared = Number(req.headers["content-length"] ?? 0);
  if (declared > maxBytes) throw tooLarge(maxBytes);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  const value = text === "" ? {} : parse(text);
  requireStorable(value);
  return schema.parse(value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new HelmError("BAD_REQUEST", "The body is not JSON.");
  }
}

function tooLarge(maxBytes: number): HelmError {
  return new HelmError("BAD_REQUEST", `The body is larger than ${maxBytes} bytes.`, { maxBytes });
}
