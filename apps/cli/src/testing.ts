import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

export const CHECKOUT = fileURLToPath(new URL("../../../", import.meta.url));
const BIN = join(CHECKOUT, "apps", "cli", "bin", "lifeboat.mjs");

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Standard output as JSON lines. */
  lines: Record<string, unknown>[];
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "lifeboat-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs the command line as a user does, with no server configured unless `environment` names one. */
export async function lifeboat(args: string[], environment: Record<string, string> = {}): Promise<Ran> {
  const config = await temporaryFolder();
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: process.env.HOME ?? "",
    HELM_PYTHON: process.env.HELM_PYTHON ?? "",
    OMP_NUM_THREADS: process.env.OMP_NUM_THREADS ?? "",
    XDG_CONFIG_HOME: config,
    HELM_LEASE_DIR: join(config, "leases"),
    ...environment,
  };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [BIN, ...args],
      { env, maxBuffer: 64 << 20 },
      (_error, stdout, stderr) => {
        const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
        resolve({
          code: child.exitCode,
          stdout,
          stderr,
          lines: args.includes("--json") ? lines.map((line) => JSON.parse(line)) : [],
        });
      },
    );
  });
}
