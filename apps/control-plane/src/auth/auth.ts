import { apiKey } from "@better-auth/api-key";
import { PASSWORD_LENGTH, TOKEN_DAYS, TOKEN_PREFIX } from "@helm/contracts";
import type { Db } from "@helm/db";
import { betterAuth } from "better-auth";
import { prismaAdapter } from "better-auth/adapters/prisma";
import { APIError } from "better-auth/api";
import { bearer } from "better-auth/plugins";
import type { Config } from "../config";
import type { Hub } from "../hub";
import type { Log } from "../logging";
import { auditSession } from "./audit-sign-in";
import { ADDRESS_HEADER } from "./own-headers";

/** Sessions of people: password and e-mail, no sign-up (accounts come by setup token and by invitation). */
export function createAuth({ config, db, hub, log }: { config: Config; db: Db; hub: Hub; log: Log }) {
  const authLog = log.child({ part: "auth" });
  return betterAuth({
    appName: "Helm",
    baseURL: config.publicUrl,
    basePath: "/api/auth",
    secret: config.authSecret,
    trustedOrigins: config.origins,
    database: prismaAdapter(db, { provider: "postgresql" }),
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: PASSWORD_LENGTH.min,
      maxPasswordLength: PASSWORD_LENGTH.max,
    },
    user: {
      additionalFields: {
        role: { type: "string", required: false, defaultValue: "viewer", input: false },
        disabledAt: { type: "date", required: false, input: false },
      },
    },
    session: { expiresIn: 7 * 86_400, updateAge: 86_400 },
    // Limits are our own (http/auth-door.ts, sign-in-limits.ts): one mechanism, and an answer that says how long.
    rateLimit: { enabled: false },
    advanced: {
      cookiePrefix: "helm",
      useSecureCookies: config.secureCookies,
      defaultCookieAttributes: { httpOnly: true, sameSite: "lax" },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      database: { generateId: "uuid" },
    },
    databaseHooks: {
      session: {
        create: {
          before: async (session) => {
            const user = await db.user.findUnique({ where: { id: session.userId } });
            if (user && !user.disabledAt) return;
            throw new APIError("FORBIDDEN", {
              code: "DISABLED",
              message: "This account is disabled. Ask an administrator.",
            });
          },
          after: async (session, ctx) => {
            await db.user.update({ where: { id: session.userId }, data: { lastSignInAt: new Date() } });
            await auditSession(db, "session.signIn", session, ctx?.headers);
          },
        },
        delete: {
          after: async (session, ctx) => {
            hub.cutSession(session.id);
            await auditSession(db, "session.signOut", session, ctx?.headers);
          },
        },
      },
    },
    plugins: [
      // A token read out of the database opens nothing: what counts is signed.
      bearer({ requireSignature: true }),
      apiKey({
        schema: { apikey: { modelName: "personalToken" } },
        defaultPrefix: TOKEN_PREFIX,
        maximumNameLength: 80,
        requireName: true,
        keyExpiration: { minExpiresIn: TOKEN_DAYS.min, maxExpiresIn: TOKEN_DAYS.max },
        // Its window starts anew only after a pause, so a client that asks steadily would be shut out: ours is fixed.
        rateLimit: { enabled: false },
      }),
    ],
    // What the library did not foresee is answered and logged by our handler, not printed past the log.
    onAPIError: { throw: true },
    telemetry: { enabled: false },
    logger: {
      level: "warn",
      log: (level, message) => authLog[level === "error" ? "warn" : "debug"](message),
    },
  });
}

export type Auth = ReturnType<typeof createAuth>;
