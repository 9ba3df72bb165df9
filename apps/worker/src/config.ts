import { hostname } from "node:os";
import { delimiter, join, resolve } from "node:path";
import {
  ComputeBudgetEnvironment,
  findCheckout,
  type HubConfig,
  HubEnvironment,
  machineId,
  type OutboxLimits,
  parseEnvironment,
  readComputeBudget,
  readHub,
} from "@helm/host";
import type { ComputeBudget } from "@helm/pairing";
import { z } from "zod";

const Environment = z.object({
  HELM_CONTROL_URL: z.url().default("http://127.0.0.1:4400"),
  HELM_JOIN_TOKEN: z.string().optional(),
  HELM_WORKER_STATE: z.string().optional(),
  HELM_LEASE_DIR: z.string().optional(),
  HELM_MODEL_ROOTS: z.string().optional(),
  HELM_CORPORA_ROOT: z.string().optional(),
  ...HubEnvironment,
  HELM_PYTHON: z.string().optional(),
  HELM_DEVICE: z.enum(["cpu", "cuda", "rocm", "auto"]).default("auto"),
  /** What tells this machine from others, where the system's own word is wrong: the same for every program of it. */
  HELM_MACHINE_ID: z.string().min(1).max(200).optional(),
  HELM_WORKER_NAME: z.string().min(1).max(80).default(hostname().slice(0, 80)),
  HELM_LOG_LEVEL: z.enum(["debug", "info", "warn", "error"]).default("info"),
  HELM_PARENT_PID: z.coerce.number().int().positive().optional(),
  /** Bytes of events that wait while the control plane is away; a quarter more is kept for those that decide the run. */
  HELM_OUTBOX_MAX_BYTES: z.coerce
    .number()
    .int()
    .min(64 * 1024)
    .default(256 * 1024 ** 2),
  ...ComputeBudgetEnvironment,
  HELM_POLL_MS: z.coerce.number().int().min(100).max(60_000).default(5000),
});

export interface WorkerConfig {
  controlUrl: string;
  joinToken: string | undefined;
  stateDir: string;
  leaseDir: string;
  modelRoots: string[];
  corporaRoot: string;
  /** The one hub that corpora may come from; null: none. */
  hub: HubConfig | null;
  python: string | undefined;
  device: "cpu" | "cuda" | "rocm" | "auto";
  name: string;
  /** A digest. */
  machine: string;
  logLevel: string;
  parentPid: number | undefined;
  pollMs: number;
  outbox: OutboxLimits;
  budget: ComputeBudget;
}

/** The environment, read once. Errors: one sentence that names every wrong variable. */
export function readConfig(environment: NodeJS.ProcessEnv): WorkerConfig {
  const given = parseEnvironment(Environment, environment);
  const checkout = findCheckout() ?? process.cwd();
  const stateDir = resolve(given.HELM_WORKER_STATE ?? join(checkout, ".helm", "worker"));
  const roots = given.HELM_MODEL_ROOTS
    ? given.HELM_MODEL_ROOTS.split(delimiter).filter(Boolean)
    : [join(checkout, "models")];
  return {
    controlUrl: given.HELM_CONTROL_URL,
    joinToken: given.HELM_JOIN_TOKEN,
    stateDir,
    leaseDir: resolve(given.HELM_LEASE_DIR ?? join(stateDir, "..", "leases")),
    modelRoots: roots.map((root) => resolve(root)),
    corporaRoot: resolve(given.HELM_CORPORA_ROOT ?? join(checkout, "corpora")),
    hub: readHub(given),
    python: given.HELM_PYTHON,
    device: given.HELM_DEVICE,
    name: given.HELM_WORKER_NAME,
    machine: machineId(given.HELM_MACHINE_ID),
    logLevel: given.HELM_LOG_LEVEL,
    parentPid: given.HELM_PARENT_PID,
    pollMs: given.HELM_POLL_MS,
    outbox: {
      maxBytes: given.HELM_OUTBOX_MAX_BYTES,
      reserveBytes: Math.ceil(given.HELM_OUTBOX_MAX_BYTES / 4),
    },
    budget: readComputeBudget(given),
  };
}
