import { spawn } from "node:child_process";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CalibrationEvent, CalibrationResult } from "@helm/contracts";
import { describe, expect, it, vi } from "vitest";
import { CHECKOUT, lifeboat, temporaryFolder } from "../../testing";

// Each run is a whole process, and Python behind it.
vi.setConfig({ testTimeout: 120_000 });

const pair = ["--source-model", "pilot", "--target-model", "target"];
const base = ["helm", "calibrate", ...pair, "--local"];

/** The bundled corpus cut down to what a verdict needs at least: 200 hand-over points. */
async function smallCorpus(): Promise<string> {
  const folder = await temporaryFolder();
  const from = join(CHECKOUT, "corpora", "bundled");
  const cut = async (name: string, every: number, count: number) => {
    const lines = (await readFile(join(from, name), "utf8")).split("\n").filter(Boolean);
    const kept = lines.filter((_, index) => index % every === 0).slice(0, count);
    await writeFile(join(folder, name), `${kept.join("\n")}\n`);
  };
  await cut("fit.jsonl", 8, 40);
  await cut("probes.jsonl", 3, 120);
  const defaults = { fit: 24, select: 6, gate: 104, report: 8, seq_len: 96 };
  await writeFile(join(folder, "manifest.json"), JSON.stringify({ name: "small", defaults }));
  return folder;
}

describe("a calibration on this host", () => {
  it("prints events, ends with the result, and leaves a mapper named by its digest", {
    timeout: 900_000,
  }, async () => {
    const out = await temporaryFolder();
    const corpus = await smallCorpus();
    const args = [
      "--corpus",
      corpus,
      "--device",
      "cpu",
      "--k",
      "2",
      "--gate",
      "0.05",
      "--out",
      out,
      "--json",
    ];
    const ran = await lifeboat([...base, ...args], { OMP_NUM_THREADS: "1" });
    // So small a corpus is warned of, and nothing else is said there.
    expect(ran.stderr.split("\n").filter((line) => line && !line.startsWith("warning: "))).toEqual([]);
    expect(ran.code).toBe(0);
    for (const line of ran.lines.slice(0, -1)) CalibrationEvent.parse(line);
    expect(ran.lines.filter((line) => line.type === "result")).toHaveLength(1);
    const result = CalibrationResult.parse(ran.lines.at(-1));
    expect(result).toMatchObject({
      verdict: "CLEARED",
      gate: 0.05,
      pair: { source: "pilot", target: "target" },
    });
    expect(result.retention.low).toBeLessThanOrEqual(result.retention.value);
    expect(result.arms.identity?.retention).toBeGreaterThanOrEqual(0.999);
    expect(result.arms.self_map?.retention).toBeGreaterThanOrEqual(0.98);
    for (const arm of ["zero_cache", "other_sequence", "no_rerotation", "pilot_alone"])
      expect(result.arms).toHaveProperty(arm);
    expect(result.arms.zero_cache?.retention).toBeLessThan(result.arms.identity?.retention ?? 0);
    expect(await readdir(out)).toEqual([result.artifact?.sha256]);
  });

  it("leaves nothing half-written when it is interrupted, and exits 130", { timeout: 120_000 }, async () => {
    const out = await temporaryFolder();
    const corpus = await smallCorpus();
    const bin = join(CHECKOUT, "apps", "cli", "bin", "lifeboat.mjs");
    const args = [bin, ...base, "--corpus", corpus, "--device", "cpu", "--out", out, "--json"];
    const env = {
      ...process.env,
      OMP_NUM_THREADS: "1",
      XDG_CONFIG_HOME: out,
      HELM_LEASE_DIR: join(await temporaryFolder(), "leases"),
    };
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "ignore"] });
    child.stdout.once("data", () => child.kill("SIGINT"));
    const code = await new Promise((resolve) => child.once("exit", resolve));
    expect(code).toBe(130);
    expect(await readdir(out)).toEqual([]);
  });

  it("names every cause of an impossible pair before it looks for a device", async () => {
    const ran = await lifeboat([
      "helm",
      "calibrate",
      "--source-model",
      "pilot",
      "--target-model",
      "odd",
      "--json",
    ]);
    expect(ran.code).toBe(3);
    expect(ran.lines.at(-1)).toMatchObject({ type: "failed", code: "PAIR_IMPOSSIBLE", exit_code: 3 });
    expect(ran.stderr).toMatch(/kv_heads: .+\n.*head_dim: /);
  });

  it("refuses more layers than there are, an unknown model, corpus and tokenizer, each with its code", async () => {
    expect((await lifeboat([...base, "--k", "99"])).code).toBe(2);
    expect(
      (await lifeboat(["helm", "calibrate", "--source-model", "nope", "--target-model", "target"])).code,
    ).toBe(5);
    expect((await lifeboat([...base, "--corpus", "nope", "--device", "cpu"])).code).toBe(5);
    const other = join(await temporaryFolder(), "target");
    await mkdir(other, { recursive: true });
    await cp(join(CHECKOUT, "models", "target"), other, { recursive: true });
    const file = join(other, "tokenizer.json");
    const tokenizer = JSON.parse(await readFile(file, "utf8"));
    tokenizer.model.merges.splice(5, 1);
    await writeFile(file, JSON.stringify(tokenizer));
    const ran = await lifeboat(["helm", "calibrate", "--source-model", "pilot", "--target-model", other]);
    expect(ran.code).toBe(3);
    expect(ran.stderr).toMatch(/tokenizers differ in content/);
  });

  it("never chooses the CPU by itself", async () => {
    const host = await lifeboat(["helm", "doctor", "--json"]);
    if (host.lines.at(-1)?.verdict !== "none") return;
    const ran = await lifeboat(base);
    expect(ran.code).toBe(4);
    expect(ran.stderr).toMatch(/--device cpu/);
  });
});
