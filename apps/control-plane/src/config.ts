import { isIP } from "node:net";
import { join, resolve } from "node:path";
import { z } from "zod";
import type { S3Settings } from "./artifact/s3-store";
import type { UploadBounds } from "./artifact/uploads";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]", "::1"]);

export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host);
}

const MiB = 1024 ** 2;
const GiB = 1024 ** 3;

function isPrivate(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
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
    /** Where mappers lie: HELM_ARTIFACT_DIR, or a bucket (HELM_S3_*). */
    HELM_ARTIFACT_STORE: z.enum(["directory", "s3"]).default("directory"),
    HELM_ARTIFACT_MAX_BYTES: z.coerce
      .number()
      .int()
      .min(1024)
      .default(64 * GiB),
    /** Left free on the disk of HELM_ARTIFACT_DIR. */
    HELM_ARTIFACT_RESERVE_BYTES: z.coerce
      .number()
      .int()
      .min(0)
      .default(64 * MiB),
    HELM_UPLOAD_PARTIALS: z.coerce.number().int().min(1).default(64),
    HELM_UPLOAD_PARTIAL_BYTES: z.coerce
      .number()
      .int()
      .min(1024)
      .default(256 * GiB),
    HELM_UPLOAD_HOURS: z.coerce.number().positive().default(24),
    /** Slower than this over a whole HELM_UPLOAD_STALL_MS is hung up on; what came is kept. */
    HELM_UPLOAD_BYTES_PER_SECOND: z.coerce.number().int().min(1).default(1024),
    HELM_S3_ENDPOINT: z.url().optional(),
    HELM_S3_BUCKET: z
      .string()
      .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "HELM_S3_BUCKET is no name of a bucket.")
      .optional(),
    HELM_S3_REGION: z.string().min(1).default("us-east-1"),
    HELM_S3_PREFIX: z
      .string()
      .regex(/^([A-Za-z0-9._-]+\/)*$/, "HELM_S3_PREFIX must be empty or end with a slash.")
      .default(""),
    HELM_S3_PATH_STYLE: flag.optional(),
    HELM_S3_ACCESS_KEY_ID: z.string().min(1).optional(),
    HELM_S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
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
    /** Nodes that are drained for a calibration and not parked after this long serve again, and the run FAILED. */
    HELM_DRAIN_MS: z.coerce.number().int().min(500).default(600_000),
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
    /** Shared with the console: who brings it is the console, and says whose request it passes on. */
    HELM_CONSOLE_SECRET: z
      .string()
      .regex(/^[\x21-\x7e]{32,512}$/, "HELM_CONSOLE_SECRET must be 32 to 512 visible ASCII characters.")
      .optional(),
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
  .refine((env) => env.HELM_ARTIFACT_STORE === "directory" || env.HELM_S3_BUCKET !== undefined, {
    path: ["HELM_S3_BUCKET"],
    error: "HELM_ARTIFACT_STORE is s3: name its bucket in HELM_S3_BUCKET.",
  })
  .refine(
    (env) => (env.HELM_S3_ACCESS_KEY_ID === undefined) === (env.HELM_S3_SECRET_ACCESS_KEY === undefined),
    {
      path: ["HELM_S3_SECRET_ACCESS_KEY"],
      error: "HELM_S3_ACCESS_KEY_ID and HELM_S3_SECRET_ACCESS_KEY go together.",
    },
  )
  .refine((env) => env.HELM_S3_ENDPOINT === undefined || isPrivate(env.HELM_S3_ENDPOINT), {
    path: ["HELM_S3_ENDPOINT"],
    error:
      "Beyond this machine the store must be reached over https: name its https address in HELM_S3_ENDPOINT.",
  })
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
  artifactReserveBytes: number;
  /** Null: artifacts lie in the folder. */
  s3: S3Settings | null;
  uploads: UploadBounds;
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
  drainMs: number;
  joinTokenMinutes: number;
  logLevel: string;
  parentPid: number | undefined;
  authRateLimit: boolean;
  metricsToken: string | undefined;
  bodyMs: number;
  uploadStallMs: number;
  uploadBytesPerSecond: number;
  consoleSecret: string | undefined;
  trustedProxies: string[];
}

export class ConfigError extends Error {
  override name = "ConfigError";
}

/** A sentence that names the variable: zod's own messages do not. */
function wordsOf(issue: z.core.$ZodIssue, source: Record<string, string | undefined>): string {
  const name = issue.path.join(".");
  if (issue.code === "invalid_type" && issue.expected === "number")
    return `${name}: ${JSON.stringify(source[name])} is no number.`;
  return /[A-Z]_[A-Z]/.test(issue.message) ? issue.message : `${name}: ${issue.message}`;
}

/** The only place that reads the environment. */
export function readConfig(source: Record<string, string | undefined>): Config {
  const parsed = Environment.safeParse(source);
  if (!parsed.success)
    throw new ConfigError(parsed.error.issues.map((issue) => wordsOf(issue, source)).join("\n"));
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
    artifactReserveBytes: env.HELM_ARTIFACT_RESERVE_BYTES,
    s3: s3Of(env),
    uploads: {
      maxBytes: env.HELM_ARTIFACT_MAX_BYTES,
      maxPartials: env.HELM_UPLOAD_PARTIALS,
      maxPartialBytes: env.HELM_UPLOAD_PARTIAL_BYTES,
      maxAgeMs: env.HELM_UPLOAD_HOURS * 3_600_000,
    },
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
    drainMs: env.HELM_DRAIN_MS,
    joinTokenMinutes: env.HELM_JOIN_TOKEN_MINUTES,
    logLevel: env.HELM_LOG_LEVEL,
    parentPid: env.HELM_PARENT_PID,
    authRateLimit: env.HELM_AUTH_RATE_LIMIT,
    metricsToken: env.HELM_METRICS_TOKEN,
    bodyMs: env.HELM_BODY_MS,
    uploadStallMs: env.HELM_UPLOAD_STALL_MS,
    uploadBytesPerSecond: env.HELM_UPLOAD_BYTES_PER_SECOND,
    consoleSecret: env.HELM_CONSOLE_SECRET,
    trustedProxies: env.HELM_TRUSTED_PROXIES,
  };
}

function s3Of(env: z.infer<typeof Environment>): S3Settings | null {
  if (env.HELM_ARTIFACT_STORE !== "s3" || env.HELM_S3_BUCKET === undefined) return null;
  const { HELM_S3_ACCESS_KEY_ID: accessKeyId, HELM_S3_SECRET_ACCESS_KEY: secretAccessKey } = env;
  return {
    endpoint: env.HELM_S3_ENDPOINT ?? null,
    region: env.HELM_S3_REGION,
    bucket: env.HELM_S3_BUCKET,
    prefix: env.HELM_S3_PREFIX,
    // Amazon names a bucket by its host, most others by the path.
    pathStyle: env.HELM_S3_PATH_STYLE ?? env.HELM_S3_ENDPOINT !== undefined,
    credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : null,
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
    s3: config.s3 && { ...config.s3, credentials: config.s3.credentials ? "redacted" : null },
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
