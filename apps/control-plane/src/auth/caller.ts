import { TOKEN_PREFIX } from "@helm/contracts";
import type { Actor } from "../access/actor";
import type { Services } from "../context";
import { bearerOf } from "../host/authenticate";
import { readToken } from "../token/read-token";
import type { Auth } from "./auth";
import { readSession } from "./session";

/** Who asks over HTTP: by personal token, by a session's token, or by cookie. */
export async function readCaller(
  services: Services,
  auth: Auth,
  headers: Headers,
  address: string,
): Promise<Actor> {
  const token = bearerOf(headers.get("authorization") ?? undefined);
  if (token.startsWith(TOKEN_PREFIX)) return readToken(services, auth, token, address);
  const session = await readSession(auth, headers, services);
  return session?.actor ?? { kind: "anonymous" };
}
