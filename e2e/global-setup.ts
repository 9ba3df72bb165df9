import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProduct } from "../scripts/lib/product.mjs";
import { forget, remember } from "./product";

/** Postgres, control plane, worker, node and console on free ports, with a state of their own that goes with them. */
export default async function globalSetup(): Promise<() => Promise<void>> {
  return bringUp("bundled,below-stricter-gate");
}

/** `seed` names the scenarios to begin with. */
export async function bringUp(seed: string): Promise<() => Promise<void>> {
  const stateDir = mkdtempSync(join(tmpdir(), "helm-e2e-"));
  mkdirSync(join(stateDir, "logs"), { recursive: true });
  const product = await startProduct({
    stateDir,
    ports: "free",
    seed,
    onLine: (line: string) => console.log(`  ${line}`),
    onEnded: (name: string, how: string, tail: string) => console.error(`\nThe ${name} ${how}:\n${tail}`),
  });
  remember({ urls: product.urls, setupToken: product.setupToken, stateDir });
  return async () => {
    await product.stop();
    forget();
    rmSync(stateDir, { recursive: true, force: true });
  };
}
