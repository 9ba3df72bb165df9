import type { ServerResponse } from "node:http";
import type { HelmError } from "@helm/contracts";
import { retryAfter } from "../access/rate-limit";
import { httpStatus } from "../trpc/errors";

/** An API answers no browser page: nothing may be framed, sniffed, cached or run. */
export function setSecurityHeaders(res: ServerResponse): void {
  res.setHeader("x-content-type-options", "nosniff");
  res.setHeader("x-frame-options", "DENY");
  res.setHeader("referrer-policy", "no-referrer");
  res.setHeader("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
  res.setHeader("cross-origin-resource-policy", "same-origin");
  res.setHeader("cache-control", "no-store");
}

export function sendJson(res: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  res.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(text),
  });
  res.end(text);
}

export function sendError(res: ServerResponse, error: HelmError, requestId: string): void {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const wait = retryAfter(error);
  if (wait !== null) res.setHeader("retry-after", wait);
  const details = error.code === "INTERNAL" ? {} : error.details;
  sendJson(res, httpStatus(error.code), {
    error: { code: error.code, message: error.userMessage, details, request_id: requestId },
  });
}
