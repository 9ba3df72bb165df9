import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { evidenceOf, fitTable, scoreAnswer } from "@helm/cascade";
import { JudgeRow, type ServedJudge } from "@helm/contracts";
import { findCheckout, locatePython, pythonEnvironment } from "@helm/host";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasPython, type RealEngine, startRealEngine } from "./testing/real-engine";
import { startTestGateway, type TestGateway, testKey } from "./testing/test-gateway";

const run = promisify(execFile);
const TASKS = join(findCheckout() ?? "", "corpora", "bundled", "tasks.jsonl");
/** Rows round their log-probabilities to four places, and a batch may round another way than an answer alone. */
const NEAR = 0.01;

interface Task {
  id: string;
  prompt: { role: string; content: string }[];
}

describe.runIf(hasPython())("a judge fitted offline, before the reference engine", () => {
  let real: RealEngine;
  let gateway: TestGateway;
  let rows: JudgeRow[];
  let tasks: Task[];

  beforeAll(async () => {
    real = await startRealEngine();
    gateway = await startTestGateway({ socketPath: real.socketPath });
    rows = await collectRows();
    tasks = (await readFile(TASKS, "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  }, 480_000);
  afterAll(async () => {
    await gateway?.stop();
    await real?.stop();
  });

  async function collectRows(): Promise<JudgeRow[]> {
    const home = locatePython();
    const models = ["pilot", "target"].map((name) => join(findCheckout() ?? "", "models", name));
    const [source = "", target = ""] = models;
    const args = ["--source-model", source, "--target-model", target, "--tasks", TASKS, "--device", "cpu"];
    const { stdout } = await run(home.python, ["-m", "lifeboat_kv", "judge-rows", ...args], {
      env: { ...pythonEnvironment(home), OMP_NUM_THREADS: "1" },
      maxBuffer: 64 << 20,
    });
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    return events.flatMap((event) =>
      event.type === "judge_rows" ? event.rows.map((row: unknown) => JudgeRow.parse(row)) : [],
    );
  }

  function judgeFor(streaming: "buffer" | "window", window: number | null): ServedJudge {
    const fitted = fitTable(rows, { streaming, window, label: "target_better" });
    if (!fitted.ok) throw new Error(fitted.message);
    const served = { ...fitted.table, sha256: "0".repeat(64), threshold: 0.5 };
    const { route } = gateway.dials;
    route.streaming = streaming;
    route.window = window ?? 64;
    route.default_max_tokens = 160;
    route.judge = { ...route.judge, table: served };
    return served;
  }

  async function ask({ prompt }: Task) {
    const response = await fetch(`${gateway.origin}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${testKey}` },
      body: JSON.stringify({ messages: prompt, temperature: 0, max_tokens: 160, helm: { transfer: "off" } }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here
    return (await response.json()) as any;
  }

  it.each([
    ["buffer", null],
    ["window", 6],
  ] as const)(
    "gives live answers the score that it gave them offline: %s %s",
    async (streaming, window) => {
      const table = judgeFor(streaming, window);
      const byId = new Map(rows.map((row) => [row.id, row]));
      const some = tasks.filter((_, at) => at % 12 === 0);
      expect(some.length).toBeGreaterThan(40);
      let escalated = 0;
      for (const task of some) {
        const row = byId.get(task.id);
        if (!row) throw new Error(`no row ${task.id}`);
        const offline = scoreAnswer(table, evidenceOf(row, window)) ?? Number.NaN;
        const { helm } = await ask(task);
        expect([task.id, Math.abs(helm.judge.score - offline) < NEAR]).toEqual([task.id, true]);
        if (Math.abs(offline - table.threshold) > NEAR)
          expect([task.id, helm.decision]).toEqual([
            task.id,
            offline > table.threshold ? "escalated" : "kept",
          ]);
        escalated += helm.decision === "escalated" ? 1 : 0;
      }
      expect(escalated).toBeGreaterThan(0);
      expect(escalated).toBeLessThan(some.length);
    },
    240_000,
  );
});
