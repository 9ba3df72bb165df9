import { execFile, spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { CHECKOUT, lifeboat, temporaryFolder } from "../../testing";

// Each run is a whole process, and Python behind it.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const KV = join(CHECKOUT, "packages", "kv");
const PYTHON = process.env.HELM_PYTHON || join(KV, ".venv", "bin", "python");
let root = "";

/**
 * Random tiny models, each to be its own pair. What "blind" says does not depend on what it read: its attention adds
 * nothing, so every cache is as good as any other.
 */
const MAKE = `
import sys
from pathlib import Path
from tiny import save_corpus, tiny_model, tiny_tokenizer
root = Path(sys.argv[1])
for name in ("seeing", "blind"):
    model = tiny_model(2, 32, 3)
    if name == "blind":
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight.zero_()
    model.save_pretrained(root / name)
    tiny_tokenizer().save_pretrained(root / name)
save_corpus(root / "corpus", fit=16, probes=110, words=80)
save_corpus(root / "few", fit=16, probes=40, words=80)
`;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "lifeboat-endings-"));
  const env = {
    ...process.env,
    PYTHONPATH: [join(KV, "src"), join(KV, "tests")].join(":"),
    OMP_NUM_THREADS: "1",
  };
  await promisify(execFile)(PYTHON, ["-c", MAKE, root], { env });
});
afterAll(() => rm(root, { recursive: true, force: true }));

function arguments_(model: string, corpus: string, out: string): string[] {
  const folder = join(root, model);
  const pair = ["--source-model", folder, "--target-model", folder];
  const how = ["--corpus", join(root, corpus), "--k", "1", "--device", "cpu", "--method", "ridge"];
  return ["helm", "calibrate", ...pair, ...how, "--out", out, "--local", "--json"];
}

describe("probes that show nothing", () => {
  it("are blind where any cache does as well: exit 5, and no mapper is kept", async () => {
    const out = await temporaryFolder();
    const ran = await lifeboat(arguments_("blind", "corpus", out), { OMP_NUM_THREADS: "1" });
    expect(ran.lines.at(-1)).toMatchObject({ type: "failed", code: "PROBES_BLIND", exit_code: 5 });
    expect(ran.stderr).toMatch(/^lifeboat: .*1\.000 of the answers still follow, above 0\.7: .+\n$/);
    expect(ran.stdout).not.toMatch(/NaN|Infinity/);
    expect(ran.code).toBe(5);
    expect(await readdir(out)).toEqual([]);
  });

  it("are too short where a bucket has under 200 positions: exit 5, and no mapper is written", async () => {
    const out = await temporaryFolder();
    const ran = await lifeboat(arguments_("seeing", "few", out), { OMP_NUM_THREADS: "1" });
    expect(ran.lines.at(-1)).toMatchObject({ type: "failed", code: "PROBES_TOO_SHORT", exit_code: 5 });
    expect(ran.stderr).toMatch(/^lifeboat: .*200 positions.*use more or longer probes\.\n$/);
    expect(ran.code).toBe(5);
    expect(await readdir(out)).toEqual([]);
  });
});

describe("a command line that is ended", () => {
  /** Starts a run and waits for a stage; the job's process id is the one that holds the out folder's name. */
  async function started(stage: string, out: string) {
    const bin = join(CHECKOUT, "apps", "cli", "bin", "lifeboat.mjs");
    const leases = await temporaryFolder();
    const env = { ...process.env, OMP_NUM_THREADS: "1", XDG_CONFIG_HOME: leases, HELM_LEASE_DIR: leases };
    const args = [bin, ...arguments_("seeing", "corpus", out)];
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    let told = "";
    child.stderr.on("data", (text) => {
      told += text;
    });
    let seen = "";
    await new Promise<void>((resolve) =>
      child.stdout.on("data", (text) => {
        seen += text;
        if (seen.includes(`"stage":"${stage}"`)) resolve();
      }),
    );
    const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
    return { child, ended, env, told: () => told };
  }

  async function jobOf(out: string): Promise<number | undefined> {
    for (const name of await readdir("/proc")) {
      const line = /^\d+$/.test(name) ? await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "") : "";
      if (line.includes("lifeboat_kv") && line.includes(out)) return Number(name);
    }
    return undefined;
  }

  it("by SIGTERM ends its job and exits 130 with one line", async () => {
    const out = await temporaryFolder();
    const { child, ended, told } = await started("capture", out);
    child.kill("SIGTERM");
    expect(await ended).toBe(130);
    expect(told()).toMatch(/^lifeboat: Interrupted\. [^\n]+\n$/);
    expect(await readdir(out)).toEqual([]);
    expect(await jobOf(out)).toBeUndefined();
  });

  it("by SIGKILL leaves no job behind, no lease taken and nothing half-written", async () => {
    const out = await temporaryFolder();
    const { child, ended } = await started("capture", out);
    expect(await jobOf(out)).toBeDefined();
    child.kill("SIGKILL");
    await ended;
    await vi.waitFor(async () => expect(await jobOf(out)).toBeUndefined(), {
      timeout: 60_000,
      interval: 200,
    });
    expect(await readdir(out)).toEqual([]);
  });

  it("whose job is killed says so: exit 6", async () => {
    const out = await temporaryFolder();
    const { ended, told } = await started("capture", out);
    const job = await jobOf(out);
    process.kill(job ?? 0, "SIGKILL");
    expect(await ended).toBe(6);
    expect(told()).toMatch(/^lifeboat: The system killed the job, most likely for want of memory/);
    expect(await readdir(out)).toEqual([]);
  });
});
