import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { EngineSettings } from "../engine/engine-supervisor";

export interface EngineDouble {
  /** Milliseconds from its start until it answers. */
  loadsFor?: number;
  /** Never answers, and minds neither SIGTERM nor the end of its node. */
  hangs?: boolean;
  /** Bytes resident before its first answer, and after it. */
  resident?: [number, number];
  /** Ends at once, with these words. */
  fails?: { code: string; message: string };
}

const SOURCE = (double: EngineDouble, journal: string) => `#!${process.execPath}
const { appendFileSync } = require("node:fs");
const note = (what) => appendFileSync(${JSON.stringify(journal)}, what + " " + process.pid + "\\n");
const path = process.argv[process.argv.indexOf("--listen") + 1].slice("unix:".length);
let resident = ${JSON.stringify(double.resident ?? [100, 100])}[0];
const answers = {
  "/health": () => ({}),
  "/v1/models": () => ({ data: [{ id: "pilot", object: "model" }] }),
  "/helm/memory": () => ({
    models: { pilot: { kv_bytes_per_token: 64, kv_block_tokens: 16, kv_budget_bytes: 1000, kv_used_bytes: 300 } },
    process_resident_bytes: resident,
  }),
  "/tokenize": () => ({ count: 1, max_model_len: 4096, tokens: [1] }),
  "/v1/completions": () => {
    resident = ${JSON.stringify(double.resident ?? [100, 100])}[1];
    note("canary");
    return { choices: [{ index: 0, text: "a", finish_reason: "length" }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } };
  },
};
note("spawn");
const failed = ${JSON.stringify(double.fails ?? null)};
if (failed) { console.log(JSON.stringify({ event: "failed", ...failed })); process.exit(6); }
process.on("SIGTERM", () => { if (!${double.hangs === true}) { note("end"); process.exit(0); } });
if (${double.hangs === true}) setInterval(() => {}, 1000);
else setTimeout(() => {
  require("node:http").createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(answers[request.url]()));
    });
  }).listen(path);
}, ${double.loadsFor ?? 0});
`;

/**
 * TEST DOUBLE. A program in the engine's place that answers what a supervisor asks and notes in a journal when it was
 * spawned, when its canary came and when it ended: only for starts that a real engine cannot be made to have.
 */
export async function engineDouble(folder: string, double: EngineDouble = {}): Promise<EngineSettings> {
  await mkdir(folder, { recursive: true });
  const python = join(folder, "python");
  await writeFile(python, SOURCE(double, join(folder, "..", "journal")), { mode: 0o755 });
  return {
    python,
    models: [{ name: "pilot", folder: "/nowhere" }],
    socketPath: join(folder, "e.sock"),
    mapperDir: folder,
    device: "cpu",
    environment: process.env,
    maxWaiting: 16,
    startMs: 20_000,
    lease: { directory: join(folder, "..", "leases"), device: "cpu" },
  };
}
