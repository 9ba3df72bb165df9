import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The checkout. */
export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
export const STATE = process.env.HELM_STATE_DIR ? resolve(process.env.HELM_STATE_DIR) : join(ROOT, ".helm");
export const KV = join(ROOT, "packages", "kv");
export const VENV = join(KV, ".venv");
export const VENV_PYTHON = join(VENV, "bin", "python");
export const INSTALL_LOGS = join(ROOT, ".helm", "logs");
