import { isIP } from "node:net";
import { join, resolve } from "node:path";
import { z } from "zod";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]", "::1"]);

export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host);
}

const flag = z.enum(["0", "1", "true", "false"]).transform((text) => text === "1" || text === "true");

const Environment = z
  .object({
    HELM_PORT: z.coerce.number().int().min(0).max(65535).default(4400),
    HELM_BIND: z.string().default("127.0.0.1"),
    DATABASE_URL: z.string({
      error:
        "DATABASE_URL is not set. `npm start` brings up a database and passes it; alone, name a PostgreSQL server.",
    }),
    HELM_STATE_DIR: z.string().default(".helm"),
    HELM_ARTIFACT_DIR: z.string().optional(),
    /** Ed25519 private key (PEM) that nodes obey; several control planes share one. */
    HELM_SIGNING_KEY_FILE: z.string().optional(),
    /** The database is to accept this signing key and auth secret in place of the ones it knows. */
    HELM_REPLACE_KEYS: flag.default(false),
    /** Set by the start command: the database ends with it, so no second control plane may use it. */
    HELM_DATABASE_EMBEDDED: flag.default(false),
    HELM_MIGRATIONS_DIR: z.string().default("prisma/migrations"),
    HELM_SEEDS_DIR: z.string().optional(),
    HELM_PUBLIC_URL: z.url().default("http://127.0.0.1:3000"),
    HELM_SETUP_TOKEN: z.string().min(16).optional(),
    HELM_AUTH_SECRET: z.string().min(32, "HELM_AUTH_SECRET must be at least 32 characters."),
    HELM_BOOTSTRAP_JOIN_TOKENS: z.string().default(""),
    HELM_SEED: z.string().default(""),
    HELM_LEASE_MS: z.coerce.number().int().min(500).default(30_000),
    /** A cancelled run that its worker has not ended after this long is ended without it. */
    HELM_CANCEL_FORCE_MS: z.coerce.number().int().min(500).default(30_000),
    HELM_JOIN_TOKEN_MINUTES: z.coerce.number().int().min(1).default(60),
    HELM_LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
    HELM_PARENT_PID: z.coerce.number().int().optional(),
    HELM_AUTH_RATE_LIMIT: flag.default(true),
    /** Opens `/metrics`; without one they are read on this machine alone. */
    HELM_METRICS_TOKEN: z
      .string()
      .regex(/^[\x21-\x7e]{16,512}$/, "HELM_METRICS_TOKEN must be 16 to 512 visible ASCII characters.")
      .optional(),
    HELM_BODY_MS: z.coerce.number().int().min(100).default(60_000),
    HELM_UPLOAD_STALL_MS: z.coerce.number().int().min(100).default(60_000),
    /** Proxies whose X-Forwarded-For is believed, by address. */
    HELM_TRUSTED_PROXIES: z
      .string()
      .default("")
      .transform(split)
      .refine((addresses) => addresses.every((address) => isIP(address) !== 0), {
        error: "HELM_TRUSTED_PROXIES must list IP addresses, separated by commas.",
      }),
  })
  .refine(
    (env) =>
      new URL(env.HELM_PUBLIC_URL).protocol === "https:" || isLoopback(new URL(env.HELM_PUBLIC_URL).hostname),
    {
      path: ["HELM_PUBLIC_URL"],
      error:
        "Beyond this machine the console must be reached over https: put TLS in front and name that address.",
    },
  )
  .refine((env) => isLoopback(env.HELM_BIND) || new URL(env.HELM_PUBLIC_URL).protocol === "https:", {
    path: ["HELM_BIND"],
    error: "Beyond loopback TLS is required: put it in front and name its https address in HELM_PUBLIC_URL.",
  });

export interface BootstrapToken {
  kind: "worker" | "node";
  token: string;
}

export interface Config {
  port: number;
  bind: string;
  databaseUrl: string;
  stateDir: string;
  artifactDir: string;
  signingKeyFile: string;
  replaceKeys: boolean;
  databaseEmbedded: boolean;
  migrationsDir: string;
  /** Recorded runs that seed scenarios import; beside the migrations by default. */
  seedsDir: string;
  publicUrl: string;
  origins: string[];
  secureCookies: boolean;
  setupToken: string | undefined;
  authSecret: string;
  bootstrapTokens: BootstrapToken[];
  seeds: string[];
  leaseMs: number;
  cancelForceMs: number;
  joinTokenMinutes: number;
  logLevel: string;
  parentPid: number | undefined;
  authRateLimit: boolean;
  metricsToken: string | undefined;
  bodyMs: number;
  uploadStallMs: number;
  trustedProxies: string[];
}

export class ConfigError extends Error {
  override name = "ConfigError";
}

/** The only place that reads the environment. */
export function readConfig(source: Record<string, string | undefined>): Config {
  const parsed = Environment.safeParse(source);
  if (!parsed.success) throw new ConfigError(parsed.error.issues.map((issue) => issue.message).join("\n"));
  const env = parsed.data;
  const stateDir = resolve(env.HELM_STATE_DIR);
  return {
    port: env.HELM_PORT,
    bind: env.HELM_BIND,
    databaseUrl: env.DATABASE_URL,
    stateDir,
    artifactDir: resolve(env.HELM_ARTIFACT_DIR ?? `${stateDir}/artifacts`),
    signingKeyFile: resolve(env.HELM_SIGNING_KEY_FILE ?? join(stateDir, "signing-key.pem")),
    replaceKeys: env.HELM_REPLACE_KEYS,
    databaseEmbedded: env.HELM_DATABASE_EMBEDDED,
    migrationsDir: env.HELM_MIGRATIONS_DIR,
    seedsDir: resolve(env.HELM_SEEDS_DIR ?? join(env.HELM_MIGRATIONS_DIR, "..", "seeds")),
    publicUrl: env.HELM_PUBLIC_URL.replace(/\/$/, ""),
    origins: allowedOrigins(env.HELM_PUBLIC_URL),
    secureCookies: new URL(env.HELM_PUBLIC_URL).protocol === "https:",
    setupToken: env.HELM_SETUP_TOKEN,
    authSecret: env.HELM_AUTH_SECRET,
    bootstrapTokens: parseBootstrapTokens(env.HELM_BOOTSTRAP_JOIN_TOKENS),
    seeds: split(env.HELM_SEED),
    leaseMs: env.HELM_LEASE_MS,
    cancelForceMs: env.HELM_CANCEL_FORCE_MS,
    joinTokenMinutes: env.HELM_JOIN_TOKEN_MINUTES,
    logLevel: env.HELM_LOG_LEVEL,
    parentPid: env.HELM_PARENT_PID,
    authRateLimit: env.HELM_AUTH_RATE_LIMIT,
    metricsToken: env.HELM_METRICS_TOKEN,
    bodyMs: env.HELM_BODY_MS,
    uploadStallMs: env.HELM_UPLOAD_STALL_MS,
    trustedProxies: env.HELM_TRUSTED_PROXIES,
  };
}

/** What may be printed: nothing that opens a door. */
export function redactConfig(config: Config): Record<string, unknown> {
  const database = new URL(config.databaseUrl);
  if (database.password) database.password = "redacted";
  return {
    ...config,
    databaseUrl: database.href,
    authSecret: "redacted",
    setupToken: config.setupToken ? "redacted" : undefined,
    metricsToken: config.metricsToken ? "redacted" : undefined,
    bootstrapTokens: config.bootstrapTokens.length,
  };
}

/** A loopback console may be opened by any of its names; they are one machine. */
function allowedOrigins(publicUrl: string): string[] {
  const url = new URL(publicUrl);
  if (!isLoopback(url.hostname)) return [url.origin];
  const port = url.port ? `:${url.port}` : "";
  return ["localhost", "127.0.0.1", "[::1]"].map((host) => `${url.protocol}//${host}${port}`);
}

function parseBootstrapTokens(text: string): BootstrapToken[] {
  return split(text).map((entry) => {
    const [kind, token] = entry.split(":");
    if ((kind !== "worker" && kind !== "node") || !token) {
      throw new ConfigError("HELM_BOOTSTRAP_JOIN_TOKENS must read worker:TOKEN,node:TOKEN.");
    }
    return { kind, token };
  });
}

function split(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
