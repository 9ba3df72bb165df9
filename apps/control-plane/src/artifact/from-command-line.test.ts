import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readRecordedRun } from "../seed/recorded-run";
import { ORIGIN, SETUP_TOKEN, type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { cuttingProxy } from "../testing/cutting-proxy";
import { mapperFile, TINY } from "../testing/mapper-file";
import { joinWorker, sha256 } from "../testing/worker";

const BIN = fileURLToPath(new URL("../../../../apps/cli/bin/lifeboat.mjs", import.meta.url));
const SEEDS = fileURLToPath(new URL("../../../../prisma/seeds", import.meta.url));
const MAPPER = join(SEEDS, "cleared", "mapper.safetensors");
const PERSON = { email: "first@example.com", password: "long enough a password" };

let control: TestControlPlane;
let home: string;
let token: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "helm-mapper-"));
  control = await testControlPlane();
  await control.as("nobody").setup.createAdministrator({ token: SETUP_TOKEN, name: "First", ...PERSON });
  const answer = await control.request("POST", "/api/auth/sign-in/email", {
    json: PERSON,
    headers: { origin: ORIGIN },
  });
  token = answer.headers.get("set-auth-token") ?? "";
  const worker = await joinWorker(control);
  await control.as("admin").pair.register({ sourceModel: "small", targetModel: "large" });
  await control.as("admin").pair.register({ sourceModel: "pilot", targetModel: "target" });
  const recorded = await readRecordedRun(SEEDS, "cleared");
  if (!recorded) throw new Error("no recorded run");
  const { source, target } = recorded.started.pair;
  await worker.inspectAll({ ...TINY, pilot: source, target });
});
afterAll(async () => {
  await control.stop();
  await rm(home, { recursive: true });
});

function lifeboat(url: string, args: string[]) {
  const env = { PATH: process.env.PATH, HOME: home, LIFEBOAT_URL: url, LIFEBOAT_TOKEN: token };
  return new Promise<{ code: number | null; last: Record<string, unknown>; stderr: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [BIN, "helm", "mapper", ...args, "--json"],
      { env },
      (_, stdout, stderr) => {
        const line = stdout.trim().split("\n").at(-1) || "{}";
        resolve({ code: child.exitCode, last: JSON.parse(line), stderr });
      },
    );
  });
}

it("imports a local run over a line that is cut, and exports the same bytes", async () => {
  const bytes = await readFile(MAPPER);
  const proxy = await cuttingProxy(control.url);
  proxy.state.cutAt = Math.floor(bytes.length * 0.9);
  const imported = await lifeboat(proxy.url, ["import", MAPPER]);
  expect(imported).toMatchObject({
    code: 0,
    last: {
      type: "imported",
      sha256: sha256(bytes),
      verdict: "CLEARED",
      state: "INACTIVE",
      developmentOnly: true,
    },
  });
  expect(proxy.state.cuts).toBe(1);
  // Nothing went twice but the heads of requests and what was on the way at the cut.
  expect(proxy.state.up).toBeLessThan(bytes.length * 1.05);
  const out = join(home, "out.safetensors");
  const exported = await lifeboat(proxy.url, ["export", sha256(bytes).slice(0, 12), "--out", out]);
  expect(exported).toMatchObject({ code: 0, last: { type: "exported", pair: "pilot -> target" } });
  expect((await readFile(out)).equals(bytes)).toBe(true);
  expect((await lifeboat(control.url, ["storage"])).last).toMatchObject({ stored: { files: 1 } });
  expect((await lifeboat(control.url, ["delete-file", sha256(bytes)])).code).toBe(1);
  proxy.stop();
}, 120_000);

it("is told every cause of a refusal", async () => {
  const file = join(home, "odd.safetensors");
  await writeFile(file, mapperFile({ manifest: (manifest) => Object.assign(manifest, { device: "cuda" }) }));
  const refused = await lifeboat(control.url, ["import", file]);
  expect(refused.code).toBe(1);
  expect(`${JSON.stringify(refused.last)}${refused.stderr}`).toMatch(/IMPORT_REFUSED/);
}, 120_000);
