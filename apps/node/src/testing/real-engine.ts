import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findCheckout, locatePython, pythonEnvironment } from "@helm/host";
import pino from "pino";
import { EngineSupervisor } from "../engine/engine-supervisor";
import type { ServingEngine } from "../engine/serving-engine";

const run = promisify(execFile);

export interface RealEngine {
  socketPath: string;
  mapperDir: string;
  mapperSha256: string;
  engine: ServingEngine;
  supervisor: EngineSupervisor;
  /** The offline decode of prompts, from the same transferred cache or by the target alone. */
  decode(prompts: { id: string; tokens: number[] }[], maxTokens: number, native: boolean): Promise<Decoded[]>;
  stop(): Promise<void>;
}

export interface Decoded {
  id: string;
  tokens: number[];
  margins: number[];
  mapped: number;
}

/** Whether the library's own environment is there: without it tests of the real engine cannot run. */
export function hasPython(): boolean {
  try {
    locatePython();
    return true;
  } catch {
    return false;
  }
}

/**
 * The reference engine with copies of the bundled models (a training may be writing the originals) and a mapper fitted
 * just now from the bundled corpus.
 */
export async function startRealEngine(): Promise<RealEngine> {
  const home = locatePython();
  const environment = { ...pythonEnvironment(home), OMP_NUM_THREADS: "1" };
  const folder = await mkdtemp(join(tmpdir(), "helm-engine-"));
  const mapperDir = join(folder, "mappers");
  await mkdir(mapperDir);
  const models = ["pilot", "target"].map((name) => ({ name, folder: join(folder, name) }));
  for (const model of models) {
    await cp(join(findCheckout() ?? "", "models", model.name), model.folder, { recursive: true });
  }
  const folders = models.map((model) => model.folder);
  const socketPath = join(folder, "e.sock");
  let settle: (engine: ServingEngine) => void = () => {};
  const serving = new Promise<ServingEngine>((resolve) => {
    settle = resolve;
  });
  const supervisor = new EngineSupervisor(
    {
      python: home.python,
      models,
      socketPath,
      mapperDir,
      device: "cpu",
      environment,
      maxWaiting: 256,
      startMs: 220_000,
    },
    pino({ level: "silent" }),
    (engine) => engine && settle(engine),
  );
  supervisor.start();
  const script = fileURLToPath(new URL("./quick_fit.py", import.meta.url));
  const fitted = run(home.python, [script, ...folders, mapperDir], { env: environment });
  const [engine, { stdout }] = await Promise.all([serving, fitted]);
  const mapperSha256 = stdout.trim();
  await engine.client.loadMapper(mapperSha256);
  return {
    socketPath,
    mapperDir,
    mapperSha256,
    engine,
    supervisor,
    decode: async (prompts, maxTokens, native) => {
      const file = join(folder, native ? "native.jsonl" : "mapped.jsonl");
      await writeFile(file, prompts.map((prompt) => `${JSON.stringify(prompt)}\n`).join(""));
      const [source, target] = folders as [string, string];
      const how = native
        ? ["--native"]
        : ["--source-model", source, "--mapper", join(mapperDir, mapperSha256)];
      const { stdout: lines } = await run(
        home.python,
        [
          "-m",
          "lifeboat_kv",
          "decode",
          "--target-model",
          target,
          ...how,
          "--tokens",
          file,
          "--max-tokens",
          String(maxTokens),
        ],
        { env: environment, maxBuffer: 1 << 26 },
      );
      return lines
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Decoded & { type: string })
        .filter((event) => event.type === "decoded");
    },
    stop: async () => {
      await supervisor.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
