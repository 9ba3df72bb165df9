import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import {
  ComputeBudgetEnvironment,
  findCheckout,
  type HubConfig,
  HubEnvironment,
  parseEnvironment,
  readComputeBudget,
  readHub,
} from "@helm/host";
import type { ComputeBudget } from "@helm/pairing";
import { z } from "zod";

const Environment = z.object({
  LIFEBOAT_URL: z.url("is no address such as http://127.0.0.1:3000").optional(),
  LIFEBOAT_TOKEN: z.string().optional(),
  LIFEBOAT_API_KEY: z.string().min(1).optional(),
  HELM_MODEL_ROOTS: z.string().optional(),
  HELM_CORPORA_ROOT: z.string().optional(),
  ...HubEnvironment,
  HELM_PYTHON: z.string().optional(),
  HELM_STATE_DIR: z.string().optional(),
  HELM_LEASE_DIR: z.string().optional(),
  ...ComputeBudgetEnvironment,
  XDG_CONFIG_HOME: z.string().optional(),
  NO_COLOR: z.string().optional(),
});

export interface CliConfig {
  url: string | undefined;
  token: string | undefined;
  /** A tenant's key, for verbs that ask a gateway. */
  apiKey: string | undefined;
  modelRoots: string[];
  corporaRoot: string;
  /** Where downloads of a hub's corpora and the register of digests lie. */
  corpusStore: string;
  hub: HubConfig | null;
  artifactDir: string;
  leaseDir: string;
  budget: ComputeBudget;
  python: string | undefined;
  sessionFile: string;
  color: boolean;
}

/** The environment, read once. Errors: one sentence that names every wrong variable. */
export function readConfig(environment: NodeJS.ProcessEnv): CliConfig {
  const given = parseEnvironment(Environment, environment);
  const checkout = findCheckout() ?? process.cwd();
  const roots = (given.HELM_MODEL_ROOTS ?? "").split(delimiter).filter(Boolean);
  return {
    url: given.LIFEBOAT_URL,
    token: given.LIFEBOAT_TOKEN,
    apiKey: given.LIFEBOAT_API_KEY,
    modelRoots: [...roots.map((root) => resolve(root)), join(checkout, "models")],
    corporaRoot: resolve(given.HELM_CORPORA_ROOT ?? join(checkout, "corpora")),
    corpusStore: join(checkout, ".helm", "corpora"),
    hub: readHub(given),
    artifactDir: join(checkout, ".helm", "artifacts"),
    leaseDir: resolve(
      given.HELM_LEASE_DIR ?? join(given.HELM_STATE_DIR ?? join(checkout, ".helm"), "leases"),
    ),
    budget: readComputeBudget(given),
    python: given.HELM_PYTHON,
    sessionFile: join(given.XDG_CONFIG_HOME ?? join(homedir(), ".config"), "lifeboat", "session.json"),
    color: given.NO_COLOR === undefined,
  };
}
