import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { findCheckout, machineId, parseEnvironment } from "@helm/host";
import { z } from "zod";
import { checkBudgetNames, type EngineBudgets, KvBudgets } from "./engine/engine-budgets";

const loopback = new Set(["127.0.0.1", "localhost", "::1"]);

export function isLoopback(host: string): boolean {
  return loopback.has(host);
}

const Bytes = z.coerce.number().int().positive().optional();
const Environment = z
  .object({
    HELM_CONTROL_URL: z.url().default("http://127.0.0.1:4400"),
    HELM_JOIN_TOKEN: z.string().optional(),
    HELM_NODE_STATE: z.string().optional(),
    /** Where the leases of this host's devices lie, the same for every program of the host. */
    HELM_LEASE_DIR: z.string().optional(),
    /** What tells this machine from others, where the system's own word is wrong: the same for every program of it. */
    HELM_MACHINE_ID: z.string().min(1).max(200).optional(),
    HELM_NODE_NAME: z.string().min(1).max(80).default(hostname().slice(0, 80)),
    /** Where clients reach the gateway, if not at its own address: behind a proxy that ends TLS. */
    HELM_NODE_URL: z.url().optional(),
    HELM_GATEWAY_PORT: z.coerce.number().int().min(0).max(65_535).default(8000),
    HELM_GATEWAY_BIND: z.string().default("127.0.0.1"),
    /** Opens `/metrics`; without one they are read on this machine alone. */
    HELM_METRICS_TOKEN: z
      .string()
      .regex(/^[\x21-\x7e]{16,512}$/, "must be 16 to 512 visible ASCII characters")
      .optional(),
    HELM_PYTHON: z.string().optional(),
    HELM_DEVICE: z.enum(["cpu", "cuda", "rocm", "auto"]).default("auto"),
    HELM_ENGINE: z.literal("reference").default("reference"),
    HELM_ENGINE_MODELS: z.string().optional(),
    /** Bytes that the reference engine may take for each; where they are left out it derives them from what is free. */
    HELM_ENGINE_KV_BYTES: KvBudgets.optional(),
    HELM_ENGINE_STAGING_BYTES: Bytes,
    HELM_ENGINE_MAPPER_BYTES: Bytes,
    HELM_ENGINE_MAPPER_HOST_BYTES: Bytes,
    /** How long a request may wait for its turn before it is refused with a number. */
    HELM_ADMISSION_MS: z.coerce.number().int().min(0).max(600_000).default(120_000),
    HELM_ENGINE_START_MS: z.coerce.number().int().min(1_000).default(180_000),
    HELM_CANARY_MS: z.coerce.number().int().min(0).default(15_000),
    HELM_LOG_LEVEL: z.enum(["debug", "info", "warn", "error"]).default("info"),
    HELM_PARENT_PID: z.coerce.number().int().positive().optional(),
    /** OpenTelemetry's own names: spans are sent where one of the first two is set. Its exporter reads the others itself. */
    OTEL_EXPORTER_OTLP_ENDPOINT: z.url().optional(),
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.url().optional(),
    OTEL_SERVICE_NAME: z.string().min(1).default("helm-node"),
    OTEL_SDK_DISABLED: z.string().optional(),
  })
  .refine((given) => isLoopback(given.HELM_GATEWAY_BIND) || given.HELM_NODE_URL?.startsWith("https:"), {
    path: ["HELM_GATEWAY_BIND"],
    message:
      "beyond loopback TLS is required: put a proxy in front and name its https address in HELM_NODE_URL",
  });

export interface NodeConfig {
  controlUrl: string;
  joinToken: string | undefined;
  stateDir: string;
  leaseDir: string;
  name: string;
  /** A digest. */
  machine: string;
  url: string | undefined;
  port: number;
  bind: string;
  metricsToken: string | undefined;
  python: string | undefined;
  device: "cpu" | "cuda" | "rocm" | "auto";
  models: { name: string; folder: string }[];
  engineBudgets: EngineBudgets;
  admissionMs: number;
  engineStartMs: number;
  canaryMs: number;
  logLevel: string;
  parentPid: number | undefined;
  telemetry: { tracesUrl: string; serviceName: string } | null;
}

/** The environment, read once. Errors: one sentence that names every wrong variable. */
export function readConfig(environment: NodeJS.ProcessEnv): NodeConfig {
  const given = parseEnvironment(Environment, environment);
  const checkout = findCheckout() ?? process.cwd();
  const models = readModels(given.HELM_ENGINE_MODELS ?? bundledModels(checkout));
  checkBudgetNames(given.HELM_ENGINE_KV_BYTES, models);
  const stateDir = resolve(given.HELM_NODE_STATE ?? join(checkout, ".helm", "node"));
  return {
    controlUrl: given.HELM_CONTROL_URL,
    joinToken: given.HELM_JOIN_TOKEN,
    stateDir,
    leaseDir: resolve(given.HELM_LEASE_DIR ?? join(stateDir, "..", "leases")),
    name: given.HELM_NODE_NAME,
    machine: machineId(given.HELM_MACHINE_ID),
    url: given.HELM_NODE_URL,
    port: given.HELM_GATEWAY_PORT,
    bind: given.HELM_GATEWAY_BIND,
    metricsToken: given.HELM_METRICS_TOKEN,
    python: given.HELM_PYTHON,
    device: given.HELM_DEVICE,
    models,
    engineBudgets: {
      kv: given.HELM_ENGINE_KV_BYTES,
      staging: given.HELM_ENGINE_STAGING_BYTES,
      mappers: given.HELM_ENGINE_MAPPER_BYTES,
      mappersHost: given.HELM_ENGINE_MAPPER_HOST_BYTES,
    },
    admissionMs: given.HELM_ADMISSION_MS,
    engineStartMs: given.HELM_ENGINE_START_MS,
    canaryMs: given.HELM_CANARY_MS,
    logLevel: given.HELM_LOG_LEVEL,
    parentPid: given.HELM_PARENT_PID,
    telemetry: readTelemetry(given),
  };
}

function readTelemetry(given: z.infer<typeof Environment>): NodeConfig["telemetry"] {
  const base = given.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/+$/, "");
  const tracesUrl = given.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base && `${base}/v1/traces`);
  if (!tracesUrl || given.OTEL_SDK_DISABLED?.toLowerCase() === "true") return null;
  return { tracesUrl, serviceName: given.OTEL_SERVICE_NAME };
}

function bundledModels(checkout: string): string {
  return ["pilot", "target"].map((name) => `${name}=${join(checkout, "models", name)}`).join(",");
}

function readModels(text: string): NodeConfig["models"] {
  const models = text
    .split(",")
    .map((entry) => entry.trim())
    .filter(Boolean)
    .map((entry) => {
      const [name, ...folder] = entry.split("=");
      if (!name || folder.length === 0) {
        throw new Error(`The environment cannot be used. HELM_ENGINE_MODELS: "${entry}" is not NAME=FOLDER.`);
      }
      return { name, folder: resolve(folder.join("=")) };
    });
  if (models.length === 0)
    throw new Error("The environment cannot be used. HELM_ENGINE_MODELS: names no model.");
  return models;
}
