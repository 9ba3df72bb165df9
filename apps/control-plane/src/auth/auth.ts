import type { Db } from "@helm/db";
import { betterAuth } from "better-auth";
import { prismaAdapter } from "better-auth/adapters/prisma";
import { bearer } from "better-auth/plugins";
import type { Config } from "../config";
import type { Hub } from "../hub";
import type { Log } from "../logging";

/** Set by our own server from the socket, after any value a caller sent was removed. */
export const ADDRESS_HEADER = "x-helm-client-address";
export const PASSWORD_LENGTH = { min: 10, max: 200 };

/** Sessions of people: password and e-mail, no sign-up (the first administrator comes by setup token). */
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
      additionalFields: { role: { type: "string", required: false, defaultValue: "viewer", input: false } },
    },
    session: { expiresIn: 7 * 86_400, updateAge: 86_400 },
    rateLimit: {
      enabled: config.authRateLimit,
      storage: "database",
      window: 60,
      max: 120,
      customRules: { "/sign-in/email": { window: 60, max: 20 } },
    },
    advanced: {
      cookiePrefix: "helm",
      useSecureCookies: config.secureCookies,
      defaultCookieAttributes: { httpOnly: true, sameSite: "lax" },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      database: { generateId: "uuid" },
    },
    databaseHooks: {
      session: {
        create: { after: async (session) => auditSession(db, "session.signIn", session) },
        delete: {
          after: async (session) => {
            hub.cutSession(session.id);
            await auditSession(db, "session.signOut", session);
          },
        },
      },
    },
    plugins: [bearer()],
    telemetry: { enabled: false },
    logger: {
      level: "warn",
      log: (level, message) => authLog[level === "error" ? "warn" : "debug"](message),
    },
  });
}

/** Who came and went, beside what they changed. The session's token stays out of it. */
async function auditSession(db: Db, verb: string, session: { id: string; userId: string }): Promise<void> {
  const user = await db.user.findUnique({ where: { id: session.userId }, select: { email: true } });
  await db.auditEntry.create({
    data: {
      actorKind: "person",
      actorId: session.userId,
      actorName: user?.email ?? "unknown",
      verb,
      entity: "session",
      entityId: session.id,
      requestId: "",
    },
  });
}

export type Auth = ReturnType<typeof createAuth>;
