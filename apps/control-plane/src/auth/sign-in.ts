import { HelmError } from "@helm/contracts";
import { giveBack } from "../access/rate-limit";
import { hashSecret } from "../access/secret";
import type { Services } from "../context";
import { noteFailedSignIn } from "./audit-sign-in";
import type { Auth } from "./auth";
import { deviceCookie, knownDevice } from "./known-device";
import { ADDRESS_HEADER } from "./own-headers";
import { passwordOf, requireSamePassword } from "./same-password";
import { takeSignInTries } from "./sign-in-limits";

/** What the library answers after it has looked at a password: it was wrong, or its account may not come in. */
const LOOKED_AT: ReadonlySet<number> = new Set([401, 403]);

/** Signs in within the limits on wrong passwords. Errors: BAD_REQUEST, RATE_LIMITED. */
export async function signIn(
  { db, config }: Services,
  auth: Pick<Auth, "handler">,
  request: Request,
): Promise<Response> {
  const { headers } = request;
  const text = await readJson(request);
  const email = emailIn(text);
  // By digest: the field may hold anything that somebody typed, a password too.
  const account = hashSecret(email);
  const device = knownDevice(config, account, headers.get("cookie"));
  const address = headers.get(ADDRESS_HEADER) ?? "unknown";
  const note = (limited: boolean) => noteFailedSignIn(db, { email, limited, headers });

  const tries = config.authRateLimit
    ? await takeSignInTries(db, { account, device, address }).catch(async (error: unknown) => {
        if (error instanceof HelmError && error.code === "RATE_LIMITED") await note(true);
        throw error;
      })
    : [];
  const before = await passwordOf(db, email);
  let failed = false;
  try {
    const response = await auth.handler(
      new Request(request.url, { method: request.method, headers, body: text }),
    );
    if (response.ok) await requireSamePassword(db, before, response.clone());
    failed = LOOKED_AT.has(response.status);
    if (!response.ok && response.status < 500) await note(false);
    if (response.ok) response.headers.append("set-cookie", deviceCookie(config, account));
    return response;
  } finally {
    if (!failed) await giveBack(db, tries);
  }
}

/** JSON alone: in another form the library would find an email address that was not counted. */
async function readJson(request: Request): Promise<string> {
  const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/json") throw new HelmError("BAD_REQUEST", "Send email and password as JSON.");
  return request.text();
}

function emailIn(text: string): string {
  try {
    const { email } = (JSON.parse(text) ?? {}) as { email?: unknown };
    return typeof email === "string" ? email.toLowerCase().slice(0, 200) : "";
  } catch {
    throw new HelmError("BAD_REQUEST", "The body is no JSON.");
  }
}
