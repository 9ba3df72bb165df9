import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findCheckout, locatePython, pythonEnvironment } from "@helm/host";
import pino from "pino";
import type { EngineBudgets } from "../engine/engine-budgets";
import { EngineSupervisor } from "../engine/engine-supervisor";
import type { ServingEngine } from "../engine/serving-engine";
import { type MapperKind, makeMapper } from "./make-mappers";

const run = promisify(execFile);

export interface RealEngine {
  socketPath: string;
  mapperDir: string;
  mapperSha256: string;
  /** Of the pair the other way round; empty where it was not asked for. */
  reverseSha256: string;
  engine: ServingEngine;
  supervisor: EngineSupervisor;
  /** The offline decode of prompts, from the same transferred cache or by the target alone. */
  decode(prompts: { id: string; tokens: number[] }[], maxTokens: number, native: boolean): Promise<Decoded[]>;
  /** How far the two mappers drift over the bundled chats, as it is measured offline; the chats come with it. */
  drift(chats: number, turns: number): Promise<MeasuredDrift>;
  stop(): Promise<void>;
}

export interface MeasuredDrift {
  /** By chat and turn, the tokens that lead from one answer to the next. */
  chats: number[][][];
  ends: number[];
  turns: {
    turn: number;
    direction: "up" | "down";
    retention: number;
    buckets: Record<string, number | null>;
  }[];
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

export interface WantedEngine {
  budgets?: EngineBudgets;
  /** A mapper of the other direction as well. */
  reverse?: boolean;
  mappers?: MapperKind;
}

/**
 * The reference engine with copies of the bundled models (a training may be writing the originals) and a mapper, fitted
 * just now where no other is wanted.
 */
export async function startRealEngine(wanted: WantedEngine = {}): Promise<RealEngine> {
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
      budgets: wanted.budgets,
      environment,
      maxWaiting: 256,
      startMs: 220_000,
      lease: { directory: join(folder, "leases"), device: "cpu" },
    },
    pino({ level: "silent" }),
    (engine) => engine && settle(engine),
  );
  supervisor.start();
  const how = { kind: wanted.mappers ?? "fitted", python: home.python, environment, folders, mapperDir };
  const made = async () => {
    const up = await makeMapper(how, "up");
    return [up, wanted.reverse ? await makeMapper(how, "down") : ""] as const;
  };
  const [engine, [mapperSha256, reverseSha256]] = await Promise.all([serving, made()]);
  for (const sha256 of [mapperSha256, reverseSha256]) if (sha256) await engine.client.loadMapper(sha256);
  return {
    socketPath,
    mapperDir,
    mapperSha256,
    reverseSha256,
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
    drift: async (chats, turns) => {
      const measure = fileURLToPath(new URL("./quick_drift.py", import.meta.url));
      const mappers = [mapperSha256, reverseSha256].map((sha256) => join(mapperDir, sha256));
      const { stdout } = await run(
        home.python,
        [measure, ...folders, ...mappers, String(chats), String(turns)],
        { env: environment, maxBuffer: 1 << 26 },
      );
      return JSON.parse(stdout.split("\n").findLast(Boolean) ?? "") as MeasuredDrift;
    },
    stop: async () => {
      await supervisor.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
