import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findCheckout, MAPPER_FILE } from "@helm/host";

const run = promisify(execFile);

/**
 * `fitted`: just now, from a part of the bundled corpus. `random`: of random weights, where what a transferred answer says
 * does not matter or should be seen to be wrong. `recorded`: of the two calibrations that come with the repository.
 */
export type MapperKind = "fitted" | "random" | "recorded";

export interface MapperMaking {
  kind: MapperKind;
  python: string;
  environment: NodeJS.ProcessEnv;
  /** Where the pilot and the target lie. */
  folders: string[];
  mapperDir: string;
}

/** A mapper for one direction in the engine's folder of mappers; resolves with its digest. */
export async function makeMapper(how: MapperMaking, direction: "up" | "down"): Promise<string> {
  if (how.kind === "recorded") return recorded(how, direction);
  const script = how.kind === "random" ? "./random_mapper.py" : "./quick_fit.py";
  const from = direction === "up" ? how.folders : how.folders.toReversed();
  const { stdout } = await run(
    how.python,
    [fileURLToPath(new URL(script, import.meta.url)), ...from, how.mapperDir],
    { env: how.environment },
  );
  return stdout.trim();
}

async function recorded({ mapperDir }: MapperMaking, direction: "up" | "down"): Promise<string> {
  const seed = direction === "up" ? "cleared" : "below-stricter-gate";
  const file = join(findCheckout() ?? "", "prisma", "seeds", seed, "mapper.safetensors");
  const sha256 = createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
  await mkdir(join(mapperDir, sha256), { recursive: true });
  await copyFile(file, join(mapperDir, sha256, MAPPER_FILE));
  return sha256;
}
