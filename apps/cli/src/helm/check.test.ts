import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
  const chosen = cases.pairs.filter((_, index) => [0, 3, 5, 8, 10].includes(index));
  it.each(chosen)("$source -> $target is $verdict", async ({ source, target, verdict, reason }) => {
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

describe("lifeboat helm doctor --telemetry", () => {
  it("judges a device from a file", async () => {
    const folder = await temporaryFolder();
    const [h200, , , , t4] = hardware;
    for (const device of [
      h200,
      t4,
      hardware[10],
      { ...h200, vendor: "nvidia", verdict: "ok", capability: 8 },
    ]) {
      const file = join(folder, "device.json");
      await writeFile(file, JSON.stringify(device));
      const ran = await lifeboat(["helm", "doctor", "--telemetry", file, "--json"]);
      const verdict = device?.verdict === "ok" ? "allowed" : device?.verdict;
      expect(ran.lines.at(-1)).toMatchObject({ verdict });
      expect(ran.code).toBe(verdict === "allowed" ? 0 : 4);
    }
    expect((await lifeboat(["helm", "doctor", "--telemetry", join(folder, "none.json")])).code).toBe(5);
  });
});
