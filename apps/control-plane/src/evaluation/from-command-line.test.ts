import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readRecordedRun } from "../seed/recorded-run";
import { ORIGIN, SETUP_TOKEN, type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { until } from "../testing/until";
import { joinWorker } from "../testing/worker";

const CHECKOUT = fileURLToPath(new URL("../../../../", import.meta.url));
const SEEDS = join(CHECKOUT, "prisma", "seeds");
const HARNESS = join(CHECKOUT, "packages", "kv", ".venv-evaluate", ".helm-installed");
const PERSON = { email: "first@example.com", password: "long enough a password" };

let control: TestControlPlane;
let home: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "helm-evaluate-"));
  control = await testControlPlane({ HELM_SEED: "bundled,cleared", HELM_SEEDS_DIR: SEEDS });
});
afterAll(async () => {
  await control.stop();
  await rm(home, { recursive: true });
});

async function signIn(): Promise<string> {
  await control.as("nobody").setup.createAdministrator({ token: SETUP_TOKEN, name: "First", ...PERSON });
  const answer = await control.request("POST", "/api/auth/sign-in/email", {
    json: PERSON,
    headers: { origin: ORIGIN },
  });
  return answer.headers.get("set-auth-token") ?? "";
}

function evaluate(
  token: string,
  more: string[],
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const bin = join(CHECKOUT, "apps", "cli", "bin", "lifeboat.mjs");
  const args = ["helm", "evaluate", "--source-model", "pilot", "--target-model", "target", "--device", "cpu"];
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    HELM_PYTHON: process.env.HELM_PYTHON ?? "",
    HELM_LEASE_DIR: home,
    OMP_NUM_THREADS: "1",
    LIFEBOAT_URL: control.url,
    LIFEBOAT_TOKEN: token,
  };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [bin, ...args, ...more, "--json"],
      { env },
      (_, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

it.skipIf(!existsSync(HARNESS))(
  "a result of the command line is stored under the mapper that it was measured with",
  async () => {
    const recorded = await readRecordedRun(SEEDS, "cleared");
    if (!recorded) throw new Error("no recorded run");
    const { source, target } = recorded.started.pair;
    const worker = await joinWorker(control);
    await worker.inspectAll({ pilot: source, target, odd: null });
    await until(
      () => control.as("viewer").mapper.list({}),
      ({ rows }) => rows.length > 0,
    );
    const mapper = join(SEEDS, "cleared", "mapper.safetensors");
    const ran = await evaluate(await signIn(), ["--mapper", mapper, "--limit", "1", "--record"]);
    expect(ran.stderr).toBe("");
    expect(ran.code).toBe(0);
    const printed = JSON.parse(ran.stdout.trim().split("\n").at(-1) ?? "");
    const [known] = (await control.as("viewer").mapper.list({})).rows;
    const [stored] = await control.as("viewer").evaluation.list({ pairId: known?.pairId ?? "" });
    expect(stored?.result).toEqual(printed);
    expect(stored).toMatchObject({ mapperId: known?.id, recordedBy: PERSON.email, developmentOnly: true });
    expect(stored?.result.tasks[0]).toMatchObject({ task: "helm_bundled", n: 8 });
  },
  400_000,
);
