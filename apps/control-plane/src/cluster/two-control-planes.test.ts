import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CalibrationEvent, type CalibrationUpdate, Role, type SignedDocument } from "@helm/contracts";
import { type TestDatabase, testDatabase } from "@helm/db/testing";
import type { Socket } from "socket.io-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NODE_TOKEN, SETUP_TOKEN, type TestControlPlane, WORKER_TOKEN } from "../testing/control-plane";
import { addPerson, signIn } from "../testing/people";
import { type ControlPlaneProcess, controlPlaneProcess } from "../testing/process";
import { ask, connect, socketTo } from "../testing/sockets";
import { until } from "../testing/until";
import { joinWorker, registerPair, runEvents, sha256, type TestWorker } from "../testing/worker";

let database: TestDatabase;
let stateDir: string;
let a: ControlPlaneProcess;
let b: ControlPlaneProcess;
let email: Record<Role, string>;
let token: Record<Role, string>;
/** Joined at B. */
let worker: TestWorker;
let pairId: string;
const opened: Socket[] = [];

const start = (env: Record<string, string> = {}) =>
  controlPlaneProcess({ databaseUrl: database.url, stateDir, env });
const at = (which: ControlPlaneProcess, role: Role) => which.caller(token[role]);

beforeAll(async () => {
  database = await testDatabase();
  stateDir = await mkdtemp(join(tmpdir(), "helm-two-"));
  const bootstrap = { HELM_BOOTSTRAP_JOIN_TOKENS: `worker:${WORKER_TOKEN},node:${NODE_TOKEN}` };
  // Both at once on an empty database: one makes the key, the other reads it.
  [a, b] = await Promise.all([start(bootstrap), start(bootstrap)]);
  await Promise.all([a.ready(), b.ready()]);
  const people = await Promise.all(Role.options.map((role) => addPerson(database, role)));
  email = Object.fromEntries(people.map((one) => [one.role, one.email])) as Record<Role, string>;
  const tokens = people.map(async (one) => [one.role, (await signIn(a, one.email)).bearer]);
  token = Object.fromEntries(await Promise.all(tokens));
  worker = await joinWorker(b);
  const registrar = { as: () => at(a, "admin") } as unknown as TestControlPlane;
  pairId = (await registerPair(registrar, worker, "pilot", "target")).pairId ?? "";
}, 400_000);

afterAll(async () => {
  for (const socket of opened) socket.disconnect();
  await Promise.all([a?.stop(), b?.stop()]);
  await database?.drop();
  await rm(stateDir, { recursive: true, force: true });
});

async function openSocket(
  which: ControlPlaneProcess,
  namespace: string,
  door: Parameters<typeof socketTo>[2],
) {
  const socket = socketTo(which.url, namespace, door);
  opened.push(socket);
  expect(await connect(socket)).toBe("connected");
  return socket;
}

/** A page of the console, told by its own numbers whether anything is missing. */
class Page {
  readonly seqs: number[] = [];
  readonly states: string[] = [];
  at: number[] = [];
  private attempt = 1;
  private reading: Promise<void> = Promise.resolve();

  constructor(
    readonly socket: Socket,
    private readonly id: string,
    private readonly caller: () => ReturnType<TestControlPlane["as"]>,
  ) {
    socket.on("calibration:update", (update: CalibrationUpdate) => {
      this.at.push(Date.now());
      this.states.push(update.state);
      if ((update.after_seq ?? 0) > this.last || update.last_seq > this.last) this.read();
    });
    socket.on("connect", () => void this.follow());
  }

  get last(): number {
    return this.seqs.at(-1) ?? 0;
  }

  async follow(): Promise<void> {
    const ack = (await ask(this.socket, "follow", { calibration: this.id })) as { ok: boolean };
    if (ack.ok) this.read();
  }

  private read(): void {
    this.reading = this.reading
      .then(async () => {
        const page = await this.caller().calibration.events({
          id: this.id,
          afterSeq: this.last,
          limit: 1000,
        });
        if (page.attempt !== this.attempt) return;
        for (const { seq } of page.events) if (seq > this.last) this.seqs.push(seq);
      })
      .catch(() => {});
  }
}

const numbers = (n: number) => Array.from({ length: n }, (_, i) => i + 1);
const log = (i: number, message = `line ${i}`): CalibrationEvent => ({
  v: 1,
  at: new Date().toISOString(),
  type: "log",
  level: "info",
  message,
});

async function claimRun() {
  const { id } = await at(a, "operator").calibration.start({ pairId, device: "cpu" });
  const job = (await worker.claim()).json as { id: string; attempt: string };
  expect(job.id).toBe(id);
  return job;
}

/** Ends what runs, so that the pair is free for the next test. */
async function endRun(job: { id: string; attempt: string }) {
  await worker.finish(job.id, { attempt: job.attempt, outcome: "cancelled" });
}

describe("a run whose worker is at the other control plane", () => {
  it("is followed in order with nothing lost, at most ten updates a second", async () => {
    const job = await claimRun();
    const console_ = await openSocket(a, "/console", { token: token.viewer });
    const page = new Page(console_, job.id, () => at(a, "viewer"));
    await page.follow();
    const socket = await openSocket(b, "/workers", { credential: worker.credential });
    const from = Date.now();
    for (let i = 0; i < 60; i += 1) {
      // Now and then a message that no NOTIFY can carry.
      const event = log(i, i % 10 === 3 ? "x".repeat(9_000) : undefined);
      const batch = { job: job.id, attempt: job.attempt, events: [{ seq: i + 1, event }] };
      // By turns through both, as behind a load balancer that knows nothing.
      const ack =
        i % 2 === 0
          ? ((await ask(socket, "calibration:event", batch)) as { ok: boolean })
          : (
              await a.request("POST", `/api/worker/jobs/${job.id}/events`, {
                json: batch,
                bearer: worker.credential,
              })
            ).json;
      expect(ack).toMatchObject({ ok: true });
    }
    await until(
      () => page.last,
      (last) => last === 60,
    );
    const seconds = (Date.now() - from) / 1000;
    expect(page.seqs).toEqual(numbers(60));
    expect(page.at.length).toBeGreaterThan(2);
    expect(page.at.length).toBeLessThanOrEqual(Math.ceil(seconds * 10) + 1);
    for (let i = 10; i < page.at.length; i += 1)
      expect((page.at[i] ?? 0) - (page.at[i - 10] ?? 0)).toBeGreaterThan(850);
    await endRun(job);
    await until(
      () => page.states.at(-1),
      (state) => state === "CANCELLED",
    );
    expect(page.states.at(-1)).toBe("CANCELLED");
  });

  it("is cancelled from here: the worker there hears of it at once", async () => {
    const job = await claimRun();
    const socket = await openSocket(b, "/workers", { credential: worker.credential });
    const heard = new Promise((resolve) => socket.once("cancel", resolve));
    await at(a, "operator").calibration.cancel({ id: job.id });
    expect(await heard).toEqual({ job: job.id });
    expect((await worker.heartbeat(job.id, job.attempt)).json).toMatchObject({ action: "cancel" });
    await endRun(job);
  });

  it("is offered to workers of both", async () => {
    const there = await openSocket(b, "/workers", { credential: worker.credential });
    const heard = new Promise((resolve) => there.once("work", () => resolve(true)));
    const { id } = await at(a, "operator").calibration.start({ pairId, device: "cpu" });
    expect(await heard).toBe(true);
    await at(b, "operator").calibration.cancel({ id });
  });
});

it("a change through one is hinted to consoles of the other", async () => {
  const socket = await openSocket(b, "/console", { token: token.viewer });
  const topics: string[] = [];
  socket.on("changed", ({ topic }: { topic: string }) => topics.push(topic));
  await at(a, "admin").tenant.create({ name: `t-${randomBytes(4).toString("hex")}` });
  await until(
    () => topics,
    (all) => all.includes("tenants"),
  );
  expect(topics).toContain("tenants");
});

it("a snapshot made through one, and the kill switch, reach a node of the other within a second", async () => {
  const joined = await b.request("POST", "/api/hosts/join", {
    json: {
      kind: "node",
      join_token: NODE_TOKEN,
      name: "n1",
      version: "0.1.0",
      device: "cpu",
      hardware: "none",
      devices: [],
    },
  });
  const socket = socketTo(b.url, "/nodes", { credential: joined.json.credential });
  opened.push(socket);
  const got: Record<
    string,
    { generation: number; helm_enabled?: boolean; kill_switch?: boolean; at: number }
  > = {};
  const take = (kind: string) => (document: SignedDocument, ack: (answer: unknown) => void) => {
    const body = JSON.parse(document.document);
    got[kind] = { ...body, at: Date.now() };
    ack({ ok: true, generation: body.generation ?? body.version, sha256: document.sha256 });
  };
  socket.on("snapshot", take("snapshot"));
  socket.on("access-list", take("access"));
  expect(await connect(socket)).toBe("connected");
  await until(() => got.snapshot && got.access, Boolean);
  const before = got.snapshot?.generation ?? 0;
  const setting = await at(a, "admin").setting.get();
  const on = await at(a, "admin").setting.setHelmEnabled({ enabled: true, revision: setting.revision });
  await until(
    () => got.snapshot?.helm_enabled,
    (enabled) => enabled === true,
  );
  expect(got.snapshot).toMatchObject({ generation: before + 1, helm_enabled: true });
  await at(a, "admin").setting.setKillSwitch({ on: true, revision: on.revision });
  const committed = Date.now();
  await until(
    () => got.access?.kill_switch,
    (killed) => killed === true,
  );
  expect((got.access?.at ?? 0) - committed).toBeLessThan(1_000);
});

describe("whoever is no longer let in", () => {
  const disconnected = (socket: Socket) =>
    new Promise((resolve) => socket.once("disconnect", () => resolve("cut")));

  it("is cut at both: a host", async () => {
    const { token: joinToken } = await at(a, "admin").host.createJoinToken({ kind: "worker" });
    const other = await joinWorker(a, joinToken);
    const [atA, atB] = [
      await openSocket(a, "/workers", { credential: other.credential }),
      await openSocket(b, "/workers", { credential: other.credential }),
    ];
    const cut = Promise.all([disconnected(atA), disconnected(atB)]);
    await at(a, "admin").host.revoke({ id: other.id });
    expect(await cut).toEqual(["cut", "cut"]);
    for (const which of [a, b]) {
      const again = socketTo(which.url, "/workers", { credential: other.credential });
      expect(await connect(again)).not.toBe("connected");
      again.disconnect();
      const claim = await which.request("POST", "/api/worker/claim", { json: {}, bearer: other.credential });
      expect(claim.status).toBe(401);
    }
  });

  it("is cut at both: a session, through whichever it signs out", async () => {
    const signedIn = await signIn(a, email.operator);
    const sockets = [
      await openSocket(a, "/console", { cookie: signedIn.cookie }),
      await openSocket(b, "/console", { token: signedIn.bearer }),
    ];
    const others = await openSocket(b, "/console", { token: token.operator });
    const cut = Promise.all(sockets.map(disconnected));
    const out = await b.request("POST", "/api/auth/sign-out", { json: {}, bearer: signedIn.bearer });
    expect(out.status).toBe(200);
    expect(await cut).toEqual(["cut", "cut"]);
    for (const which of [a, b])
      await expect(which.caller(signedIn.bearer).session.me()).rejects.toMatchObject({
        code: "UNAUTHORIZED",
      });
    // Another session of the same person goes on.
    expect(others.connected).toBe(true);
  });

  it("is cut at both although its row was changed behind everyone's back: what is missed is found", async () => {
    const person = await addPerson(database, "viewer");
    const { bearer: theirs } = await signIn(a, person.email);
    const socket = await openSocket(b, "/console", { token: theirs });
    const cut = disconnected(socket);
    await database.db.session.deleteMany({ where: { userId: person.id } });
    // As after a gap: the listening connection of B is cut and comes back.
    await database.db.$queryRaw`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'helm listener'`;
    expect(await cut).toBe("cut");
  });
});

it("counts tries together", async () => {
  const tries = async (which: ControlPlaneProcess) =>
    (
      await which.request("POST", "/trpc/setup.createAdministrator", {
        json: {
          json: { token: SETUP_TOKEN, email: "x@example.com", name: "X", password: "long enough a password" },
        },
      })
    ).status;
  const statuses: number[] = [];
  for (let i = 0; i < 12; i += 1) statuses.push(await tries(i % 2 === 0 ? a : b));
  expect(statuses.slice(0, 10)).not.toContain(429);
  expect(statuses.slice(10)).toEqual([429, 429]);
});

it("refuses a third one with other keys, in words", async () => {
  const third = await start({ HELM_AUTH_SECRET: "a secret that nobody here has ever seen" });
  expect(await third.ended).toBe(1);
  expect(third.output()).toContain("HELM_AUTH_SECRET is not the one");
  expect(third.output()).not.toContain("    at ");
});

it("goes on when one is killed in the middle of a run: its console and its worker resume at the other", async () => {
  const victim = await start();
  await victim.ready();
  const job = await claimRun();
  // Behind one address, as a load balancer gives: the next connection goes to who is there.
  const socketAtVictim = await openSocket(victim, "/console", { token: token.viewer });
  const page = new Page(socketAtVictim, job.id, () => at(a, "viewer"));
  await page.follow();
  const send = (which: ControlPlaneProcess, from: number, count: number) =>
    which.request("POST", `/api/worker/jobs/${job.id}/events`, {
      json: {
        job: job.id,
        attempt: job.attempt,
        events: Array.from({ length: count }, (_, i) => ({ seq: from + i, event: log(from + i) })),
      },
      bearer: worker.credential,
    });
  await send(victim, 1, 20);
  await until(
    () => page.last,
    (last) => last === 20,
  );
  const gone = new Promise((resolve) => socketAtVictim.once("disconnect", resolve));
  await victim.kill();
  await gone;
  // The worker does not know whether its last batch was taken: it sends it again, elsewhere.
  expect((await send(b, 11, 20)).json).toEqual({ ok: true, last_seq: 30 });
  const resumed = new Page(await openSocket(b, "/console", { token: token.viewer }), job.id, () =>
    at(b, "viewer"),
  );
  resumed.seqs.push(...page.seqs);
  await resumed.follow();
  await send(a, 31, 10);
  await until(
    () => resumed.last,
    (last) => last === 40,
  );
  expect(resumed.seqs).toEqual(numbers(40));
  const artifact = randomBytes(512);
  const events = runEvents(artifact, { share: 1 });
  await b.request("POST", `/api/worker/jobs/${job.id}/events`, {
    json: { job: job.id, attempt: job.attempt, events: events.map((event, i) => ({ seq: 41 + i, event })) },
    bearer: worker.credential,
  });
  const upload = await a.request(
    "PATCH",
    `/api/worker/artifacts/${sha256(artifact)}?job=${job.id}&attempt=${job.attempt}`,
    {
      body: artifact,
      bearer: worker.credential,
      headers: { "upload-offset": "0", "upload-length": String(artifact.length) },
    },
  );
  expect(upload.status).toBe(200);
  const finished = await worker.finish(job.id, {
    attempt: job.attempt,
    outcome: "fitted",
    artifact_sha256: sha256(artifact),
  });
  expect(finished.json).toEqual({ state: "SUCCEEDED" });
  await until(
    () => resumed.states.at(-1),
    (state) => state === "SUCCEEDED",
  );
  expect(resumed.states.at(-1)).toBe("SUCCEEDED");
  expect(resumed.seqs).toEqual(numbers(40 + events.length));
});
