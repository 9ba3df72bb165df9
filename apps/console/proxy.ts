import { type NextRequest, NextResponse } from "next/server";
import { contentSecurityPolicy } from "./server/content-security-policy";
import { environment } from "./server/environment";
import { securityHeaders } from "./server/security-headers";

/** One origin for the browser: these paths belong to the control plane, sockets included. */
const CONTROL_PLANE_PATH = /^\/(trpc|api|socket\.io)(\/|$)/;

export function proxy(request: NextRequest): NextResponse {
  const { HELM_CONTROL_URL, NODE_ENV } = environment();
  const { pathname, search } = request.nextUrl;
  if (CONTROL_PLANE_PATH.test(pathname)) {
    return NextResponse.rewrite(new URL(pathname + search, HELM_CONTROL_URL));
  }

  const nonce = Buffer.from(crypto.randomUUID()).toString("base64");
  const policy = contentSecurityPolicy(nonce, NODE_ENV === "development");
  const headers = new Headers(request.headers);
  headers.set("x-nonce", nonce);
  headers.set("content-security-policy", policy);
  const response = NextResponse.next({ request: { headers } });
  response.headers.set("content-security-policy", policy);
  const protocol = request.headers.get("x-forwarded-proto") ?? request.nextUrl.protocol;
  for (const [name, value] of Object.entries(securityHeaders(`${protocol.replace(/:$/, "")}:`)))
    response.headers.set(name, value);
  return response;
}

export const config = { matcher: ["/((?!_next/static|_next/image|favicon.ico|icon.svg).*)"] };
