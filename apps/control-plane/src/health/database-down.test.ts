import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { appRouter } from "../router";
import { ORIGIN, SETUP_TOKEN, type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { CuttableDatabase } from "../testing/cuttable-database";
import { until } from "../testing/until";
import { joinWorker, registerPair, runEvents, type TestWorker } from "../testing/worker";

type Procedure = { _def: { type: "query" | "mutation" | "subscription" } };
const procedures = Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>);

const WHO = { email: "first@example.com", name: "First", password: "long enough a password" };
const database = new CuttableDatabase();
let control: TestControlPlane;
let worker: TestWorker;
let pairId: string;
let token: string;

beforeAll(async () => {
  control = await testControlPlane({ HELM_AUTH_RATE_LIMIT: "false" }, (url) => database.through(url));
  worker = await joinWorker(control);
  pairId = (await registerPair(control, worker, "pilot", "target")).pairId ?? "";
  await control.as("nobody").setup.createAdministrator({ token: SETUP_TOKEN, ...WHO });
  token = (await signIn()).headers.get("set-auth-token") ?? "";
  expect(token).not.toBe("");
});
afterAll(async () => {
  await database.mend();
  await control.stop();
});
beforeEach(() => database.mend());

function signIn() {
  const { email, password } = WHO;
  return control.request("POST", "/api/auth/sign-in/email", {
    json: { email, password },
    headers: { origin: ORIGIN },
  });
}

const asAdmin = (method: string, path: string, json?: unknown) =>
  control.request(method, path, { bearer: token, headers: { origin: ORIGIN }, ...(json ? { json } : {}) });

type Answer = Awaited<ReturnType<TestControlPlane["request"]>>;

function expectDown(answer: Answer): void {
  const said = answer.json?.error?.json?.data?.helm ?? answer.json?.error;
  expect({ status: answer.status, code: said?.code }).toEqual({ status: 503, code: "DATABASE_DOWN" });
  expect(answer.headers.get("retry-after")).toBe("5");
  expect(JSON.stringify(answer.json)).not.toMatch(/prisma|postgres|ECONN|127\.0\.0\.1/i);
}

async function isBack(): Promise<void> {
  const health = await until(
    () => control.request("GET", "/api/health"),
    (answer) => answer.status === 200,
  );
  expect(health.json).toMatchObject({ ok: true, database: true });
}

describe("while the database is away", () => {
  beforeEach(() => database.cut());

  it.each(procedures.map(([path, { _def }]) => ({ path, type: _def.type })))(
    "$path says so",
    async ({ path, type }) => {
      expectDown(
        type === "mutation"
          ? await asAdmin("POST", `/trpc/${path}`, { json: {} })
          : await asAdmin("GET", `/trpc/${path}`),
      );
    },
  );

  it("every endpoint of hosts says so, and signs nobody off", async () => {
    const job = randomUUID();
    const attempt = randomUUID();
    expectDown(await worker.claim());
    expectDown(await worker.heartbeat(job, attempt));
    expectDown(await worker.events(job, attempt, runEvents(Buffer.from("x"), { share: 1 })));
    expectDown(await worker.finish(job, { attempt, outcome: "failed" }));
    expectDown(await worker.upload(job, attempt, Buffer.from("x")));
    expectDown(await control.request("GET", `/api/node/artifacts/${"0".repeat(64)}`, { bearer: "x" }));
    const join = { kind: "worker", join_token: "x", name: "w", version: "1", device: "cpu" };
    expectDown(
      await control.request("POST", "/api/hosts/join", { json: { ...join, hardware: "none", devices: [] } }),
    );
  });

  it("signing in and out say so", async () => {
    expectDown(await signIn());
    expectDown(await asAdmin("POST", "/api/auth/sign-out", {}));
  });

  it("health says which part is down", async () => {
    const answer = await control.request("GET", "/api/health");
    expect(answer).toMatchObject({ status: 503, json: { ok: false, database: false } });
    expect(answer.headers.get("retry-after")).toBe("5");
  });
});

describe("in the middle of requests", () => {
  const many = () =>
    Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        i % 3 === 0 ? worker.claim() : asAdmin("GET", `/trpc/${i % 2 ? "pair.list" : "overview.helm"}`),
      ),
    );

  it("each is answered or told to come again, and afterwards all goes on by itself", async () => {
    const flying = many();
    await database.cut();
    for (const answer of await flying) if (answer.status >= 300) expectDown(answer);
    for (const answer of await many()) expectDown(answer);
    await database.mend();
    await isBack();
    for (const answer of await many()) expect(answer.status).toBeLessThan(300);
  });

  it("a database that stands still is told of within seconds, by health too", async () => {
    database.freeze();
    const began = performance.now();
    expect((await control.request("GET", "/api/health")).status).toBe(503);
    expect(performance.now() - began).toBeLessThan(10_000);
    await database.mend();
    await isBack();
  });

  it("a change is whole or not there at all, and so is its audit row", async () => {
    const rows = () => control.db.calibration.count();
    const audits = () => control.db.auditEntry.count({ where: { verb: "calibration.start" } });
    for (let round = 0; round < 6; round++) {
      const [runs, before] = [await rows(), await audits()];
      const change = asAdmin("POST", "/trpc/calibration.start", { json: { pairId, device: "cpu" } });
      await new Promise((resolve) => setTimeout(resolve, round * 4));
      await database.cut();
      const answer = await change;
      if (answer.status !== 200) expectDown(answer);
      await database.mend();
      await isBack();
      const made = (await rows()) - runs;
      expect((await audits()) - before).toBe(made);
      // Told "done", it is there; told "try again", it may be there where the answer alone was lost.
      if (answer.status === 200) expect(made).toBe(1);
      const open = await control.db.calibration.findFirst({ where: { pairId, state: "QUEUED" } });
      if (open) await control.as("admin").calibration.cancel({ id: open.id });
    }
  });
});
