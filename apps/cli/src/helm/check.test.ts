import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { acquireDeviceLease } from "@helm/host";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import hardware from "../../../../packages/pairing/src/cases/hardware.json";
import cases from "../../../../packages/pairing/src/cases/pairs.json";
import { lifeboat, temporaryFolder } from "../testing";

// Each run is a whole process, and Python behind it.
vi.setConfig({ testTimeout: 120_000 });

const models = cases.models as Record<string, object>;
let root = "";

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "lifeboat-models-"));
  for (const [id, { tokenizer: _, ...config }] of Object.entries(models) as [
    string,
    { tokenizer?: string },
  ][]) {
    await mkdir(join(root, id), { recursive: true });
    await writeFile(join(root, id, "config.json"), JSON.stringify(config));
  }
});
afterAll(() => rm(root, { recursive: true, force: true }));

describe("lifeboat helm check", () => {
  it.each(cases.pairs)("$source -> $target is $verdict", async ({ source, target, verdict, reason }) => {
    const ran = await lifeboat([
      "helm",
      "check",
      "--source-model",
      join(root, source),
      "--target-model",
      join(root, target),
      "--json",
    ]);
    expect(ran.code).toBe(verdict === "ok" ? 0 : 3);
    const answer = ran.lines.at(-1) as { ok: boolean; causes: { cause: string }[]; notes: string[] };
    expect(answer.ok).toBe(verdict === "ok");
    if (verdict === "refused") expect(answer.causes.map((found) => found.cause)).toContain(reason);
    expect(answer.notes.join()).toContain("not compared");
  });

  it("knows the bundled family by its tokenizer, and its third model as impossible", async () => {
    const check = (target: string) =>
      lifeboat(["helm", "check", "--source-model", "pilot", "--target-model", target, "--json"]);
    expect((await check("target")).lines.at(-1)).toMatchObject({
      ok: true,
      family: "Helm bundled",
      notes: [],
    });
    expect((await check("odd")).code).toBe(3);
  });

  it("finds ids under HELM_MODEL_ROOTS and lists every cause on a line of its own", async () => {
    const args = [
      "helm",
      "check",
      "--source-model",
      "google/gemma-3-1b-it",
      "--target-model",
      "Qwen/Qwen3-14B",
    ];
    const ran = await lifeboat(args, { HELM_MODEL_ROOTS: root });
    expect(ran.code).toBe(3);
    for (const cause of ["family", "kv_heads", "head_dim", "not_full_attention"])
      expect(ran.stderr).toMatch(new RegExp(`^  ${cause}: .+`, "m"));
  });

  it("says in one line that a model is not there or cannot be read", async () => {
    const missing = await lifeboat(["helm", "inspect", "no/such-model"]);
    expect(missing.code).toBe(5);
    expect(missing.stderr.trim().split("\n")).toHaveLength(1);
    const folder = await temporaryFolder();
    await writeFile(join(folder, "config.json"), "{ half");
    const broken = await lifeboat(["helm", "inspect", folder]);
    expect(broken.code).toBe(5);
    expect(broken.stderr).toMatch(/config\.json cannot be read/);
  });
});

describe("lifeboat helm inspect", () => {
  it("says what the gate makes of a model by itself, with nothing that a terminal would obey", async () => {
    const gemma = await lifeboat(["helm", "inspect", join(root, "google/gemma-3-1b-it")]);
    expect(gemma.code).toBe(0);
    expect(gemma.stdout).toMatch(/In no pair.+\n {2}not_full_attention: /);
    const pilot = await lifeboat(["helm", "inspect", "pilot", "--json"]);
    expect(pilot.lines.at(-1)).toMatchObject({ type: "inspection", family: "Helm bundled", causes: [] });
    const folder = await temporaryFolder();
    const clear = "\u001b[2J";
    await writeFile(join(folder, "config.json"), JSON.stringify({ model_type: `q${clear}wen` }));
    const odd = await lifeboat(["helm", "inspect", folder]);
    expect(odd.stdout).toContain("q?[2Jwen");
    expect(odd.stdout + odd.stderr).not.toContain("\u001b");
  });
});

describe("lifeboat helm doctor", () => {
  it("tells who uses the device by its lease, and what the guard says of it", async () => {
    const leases = await temporaryFolder();
    const before = await lifeboat(["helm", "doctor", "--json"], { HELM_LEASE_DIR: leases });
    const [use] = (before.lines.at(-1)?.uses ?? []) as { device: string }[];
    expect(use).toMatchObject({ exclusive: null, starting: null, engines: [], needed_bytes: 2 * 1024 ** 3 });
    const device = use?.device ?? "";
    await acquireDeviceLease({ directory: leases, device, purpose: "a test's run" });
    const env = { HELM_LEASE_DIR: leases, HELM_COMPUTE_BUDGET_BYTES: String(2 ** 52) };
    const ran = await lifeboat(["helm", "doctor"], env);
    expect(ran.stdout).toContain(`lease ${device}: held by process ${process.pid} (a test's run)`);
    expect(ran.stdout).toMatch(/no calibration may start\n.*A calibration needs 4194304\.0 GiB/);
  });
});

describe("lifeboat helm doctor --telemetry", () => {
  const judge = async (device: unknown, ...more: string[]) => {
    const file = join(await temporaryFolder(), "device.json");
    await writeFile(file, typeof device === "string" ? device : JSON.stringify(device));
    return lifeboat(["helm", "doctor", "--telemetry", file, ...more]);
  };

  it.each(hardware)("$name ($capability) is $verdict", async ({ verdict: wanted, ...device }) => {
    const ran = await judge(device, "--json");
    const verdict = wanted === "ok" ? "allowed" : wanted;
    expect(ran.lines.at(-1)).toMatchObject({ verdict });
    expect(ran.code).toBe(verdict === "allowed" ? 0 : 4);
  });

  it.each([
    ["a number that lost its zero", { vendor: "nvidia", name: "H100", capability: 9 }, 0],
    ["a capability that is no text", { vendor: "nvidia", name: "H100", capability: [9, 0] }, 4],
    ["no capability and no name", { vendor: "nvidia" }, 4],
    ["an unknown vendor", { vendor: "acme", name: "X1", capability: "9.0" }, 4],
    ["no vendor", { name: "H100", capability: "9.0" }, 5],
    ["a list", [], 5],
    ["no JSON", "{ half", 5],
  ])("%s", async (_name, device, code) => {
    const ran = await judge(device);
    expect(ran.code).toBe(code);
    if (code === 5) expect(ran.stderr).toMatch(/^lifeboat: .+ is no device's telemetry .+\n$/);
    else expect(ran.stdout).toMatch(/^(allowed {2}Allowed|refused {2}Refused): /);
  });

  it("says that a file is not there", async () => {
    const ran = await lifeboat(["helm", "doctor", "--telemetry", "/no/such/file.json"]);
    expect(ran.code).toBe(5);
    expect(ran.stderr.trim().split("\n")).toHaveLength(1);
  });
});
