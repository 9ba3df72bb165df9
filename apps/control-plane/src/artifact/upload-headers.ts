import type { IncomingMessage, ServerResponse } from "node:http";
import { HelmError, UPLOAD_COMPLETE, UPLOAD_LENGTH, UPLOAD_OFFSET } from "@helm/contracts";

/** Where a body begins and how long the whole is, as its sender says. */
export function readUploadHeaders(req: IncomingMessage): { offset: number; length: number } {
  const offset = wholeNumber(req, UPLOAD_OFFSET);
  const length = wholeNumber(req, UPLOAD_LENGTH);
  if (length === 0) throw new HelmError("BAD_REQUEST", "An artifact of 0 bytes is none.");
  if (offset > length) {
    const sentence = `The body would begin at ${offset}, behind the artifact's ${length} bytes.`;
    throw new HelmError("BAD_REQUEST", sentence, { offset, length });
  }
  const body = req.headers["content-length"];
  if (body !== undefined && offset + Number(body) > length) {
    const sentence = `The body of ${body} bytes is longer than what is left of ${length} from ${offset} on.`;
    throw new HelmError("BAD_REQUEST", sentence, { offset, length });
  }
  return { offset, length };
}

export function setUploadHeaders(res: ServerResponse, offset: number, complete: boolean): void {
  res.setHeader(UPLOAD_OFFSET, offset);
  res.setHeader(UPLOAD_COMPLETE, complete ? "?1" : "?0");
}

function wholeNumber(req: IncomingMessage, name: string): number {
  const text = req.headers[name];
  if (typeof text === "string" && /^\d{1,15}$/.test(text)) return Number(text);
  throw new HelmError("BAD_REQUEST", `An upload states ${name} in bytes.`);
}
