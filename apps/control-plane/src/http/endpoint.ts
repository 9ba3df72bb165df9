import type { IncomingMessage, ServerResponse } from "node:http";
import type { Role } from "@helm/contracts";
import type { Context } from "../context";

export interface EndpointCall {
  req: IncomingMessage;
  res: ServerResponse;
  ctx: Context;
  params: Record<string, string>;
  url: URL;
}

/** `/jobs/:id` style path; the host kind that may call it, "person" from a role on, or "public". */
export interface Endpoint {
  method: "GET" | "HEAD" | "POST" | "PATCH";
  path: string;
  caller: "public" | "worker" | "node" | "person";
  /** Least role of a person. */
  role?: Role;
  /** Takes a body of any length: its sender is bounded by keeping on, not by being done. */
  upload?: boolean;
  handle(call: EndpointCall): Promise<void>;
}

export function matchEndpoint(endpoints: Endpoint[], method: string, pathname: string) {
  for (const endpoint of endpoints) {
    const accepts = endpoint.method === method || (endpoint.method === "GET" && method === "HEAD");
    const params = accepts ? matchPath(endpoint.path, pathname) : null;
    if (params) return { endpoint, params };
  }
  return null;
}

function matchPath(pattern: string, pathname: string): Record<string, string> | null {
  const wanted = pattern.split("/");
  const given = pathname.split("/");
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [i, part] of wanted.entries()) {
    const value = given[i] ?? "";
    if (part.startsWith(":")) params[part.slice(1)] = value;
    else if (part !== value) return null;
  }
  return params;
}
