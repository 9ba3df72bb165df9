import { randomBytes, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { Role } from "@helm/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { appRouter } from "../router";
import { SETUP_TOKEN, type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { driftOf } from "../testing/drift";
import { evaluation } from "../testing/evaluation";
import { judgeTable, withAnswers } from "../testing/judge";
import { ladder } from "../testing/ladder";
import { mapperFile, TINY } from "../testing/mapper-file";
import { joinNode } from "../testing/node";
import { addPerson, addToken, PASSWORD } from "../testing/people";
import { traceOf } from "../testing/traces";
import { BUNDLED, joinWorker, registerPair, sha256, type TestWorker } from "../testing/worker";
import { SCOPES, SESSION_ONLY } from "./scopes";

type Procedure = { _def: { type: "query" | "mutation" | "subscription" } };
const procedures = Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>);
const mutations = procedures
  .filter(([, procedure]) => procedure._def.type === "mutation")
  .map(([path]) => path);

let control: TestControlPlane;
let worker: TestWorker;
let pairId: string;
let nodeId: string;

beforeAll(async () => {
  control = await testControlPlane();
  worker = await joinWorker(control);
  nodeId = (await joinNode(control, "n1")).id;
  pairId = (await registerPair(control, worker, "pilot", "target")).pairId ?? "";
});
afterAll(() => control.stop());

function call(role: Role | "nobody", path: string, input: unknown, requestId?: string): Promise<unknown> {
  const [noun = "", verb = ""] = path.split(".");
  const caller = control.as(role, requestId) as unknown as Record<
    string,
    Record<string, (input: unknown) => Promise<unknown>>
  >;
  const procedure = caller[noun]?.[verb];
  if (!procedure) throw new Error(`no procedure ${path}`);
  return procedure(input);
}

it("names a scope for every procedure and for nothing else", () => {
  expect(Object.keys(SCOPES).sort()).toEqual(procedures.map(([path]) => path).sort());
});

it("closes to personal tokens only what there is, and only what changes something", () => {
  for (const path of SESSION_ONLY) expect(mutations).toContain(path);
});

/** Each mutation done for real once; a new one without an entry here fails the test below. */
const DO: Record<string, () => Promise<unknown>> = {
  "setup.createAdministrator": async () => ({
    token: SETUP_TOKEN,
    email: "first@example.com",
    name: "First",
    password: "long enough a password",
  }),
  "account.changePassword": async () => {
    await ensureSelf();
    return { current: PASSWORD, next: "another long password" };
  },
  "account.revokeSession": async () => {
    await ensureSelf();
    const data = { userId: control.ids.admin, token: randomUUID(), expiresAt: new Date(Date.now() + 60_000) };
    return { id: (await control.db.session.create({ data })).id };
  },
  "account.revokeOtherSessions": async () => {
    await ensureSelf();
  },
  "token.create": async () => {
    await ensureSelf();
    const who = { id: control.sessionIds.admin, userId: control.ids.admin, token: randomUUID() };
    await control.db.session.create({ data: { ...who, expiresAt: new Date(Date.now() + 60_000) } });
    return { name: "laptop" };
  },
  "token.revoke": async () => {
    await ensureSelf();
    return { id: (await addToken(control, control.ids.admin)).id };
  },
  "person.create": async () => ({ email: "new@example.com", name: "New", role: "viewer" }),
  "person.setRole": async () => ({ ...(await someone()), role: "operator" }),
  "person.setDisabled": async () => ({ ...(await someone()), disabled: true }),
  "person.remove": async () => someone(),
  "person.resetSignIn": async () => ({ id: (await someone()).id }),
  "person.signOutEverywhere": async () => ({ id: (await someone()).id }),
  "invitation.cancel": async () => {
    const { person } = await control.as("admin").person.resetSignIn({ id: (await someone()).id });
    return { id: person.invitation?.id };
  },
  "invitation.accept": async () => {
    const { link } = await control.as("admin").person.resetSignIn({ id: (await someone()).id });
    return { token: link.split("#")[1], password: "long enough a password" };
  },
  "setting.update": async () => ({
    gate: 0.95,
    requireBeatsPilot: false,
    revision: (await control.as("viewer").setting.get()).revision,
  }),
  "setting.setHelmEnabled": async () => ({
    enabled: true,
    revision: (await control.as("viewer").setting.get()).revision,
  }),
  "setting.setKillSwitch": async () => ({
    on: true,
    revision: (await control.as("viewer").setting.get()).revision,
  }),
  "route.create": async () => ({
    name: `route-${randomBytes(4).toString("hex")}`,
    pairId,
    judge: { meanLogprob: -0.5, minLogprob: -3 },
  }),
  "route.remove": async () => {
    const name = `route-${randomBytes(4).toString("hex")}`;
    const judge = { meanLogprob: -0.5, minLogprob: -3 };
    return { name, revision: (await control.as("admin").route.create({ name, pairId, judge })).revision };
  },
  "pair.setGate": async () => ({
    id: pairId,
    gate: 0.97,
    revision: (await control.as("viewer").pair.get({ id: pairId })).revision,
  }),
  "route.update": async () => ({
    name: "helm-auto",
    window: 32,
    revision: (await control.as("viewer").route.get())?.revision,
  }),
  "pair.register": async () => ({ sourceModel: "target", targetModel: "pilot" }),
  "calibration.start": async () => ({ pairId, device: "cpu" }),
  "calibration.cancel": async () => ({ id: await openRun() }),
  "calibration.retry": async () => {
    const id = await openRun();
    await control.as("admin").calibration.cancel({ id });
    return { id };
  },
  "mapper.activate": async () => ({ id: await clearedMapper(2) }),
  "mapper.import": async () => {
    await control.as("admin").pair.register({ sourceModel: "small", targetModel: "large" });
    await worker.inspectAll({ ...BUNDLED, ...TINY });
    const file = mapperFile();
    await control.services.uploads.put(
      sha256(file),
      `person-${control.ids.admin}`,
      file.length,
      Readable.from([file]),
    );
    await control.db.artifact.create({ data: { sha256: sha256(file), bytes: file.length } });
    return { sha256: sha256(file) };
  },
  "mapper.deleteFile": async () => {
    const id = await clearedMapper(1);
    await control.as("admin").mapper.retire({ id });
    return { id };
  },
  "mapper.retire": async () => ({ id: await clearedMapper(1) }),
  "evaluation.record": async () => {
    const id = await clearedMapper(1);
    const mapper = (await control.as("viewer").mapper.list({ pairId })).rows.find((one) => one.id === id);
    return evaluation(mapper?.sha256 ?? "");
  },
  "judge.import": async () => ({ table: judgeTable(1) }),
  "judge.remove": async () => ({
    id: (await control.as("admin").judge.import({ table: judgeTable(2) })).id,
  }),
  "judge.fit": async () => {
    await control.as("admin").calibration.cancel({ id: await openRun() });
    await worker.inspectAll(BUNDLED);
    const calibrationId = await openRun();
    await worker.run(randomBytes(64), { share: 1, edit: withAnswers() });
    return { calibrationId, streaming: "window", window: 7 };
  },
  "ladder.record": async () => ladder(),
  "drift.record": async () => {
    const up = (await control.as("viewer").mapper.list({ pairId })).rows.at(0)?.sha256 ?? "";
    return driftOf(up, await reverseMapper());
  },
  "tenant.create": async () => ({ name: "acme" }),
  "tenant.setEnabled": async () => {
    const tenant = await control.as("admin").tenant.create({ name: `t-${randomBytes(4).toString("hex")}` });
    return { id: tenant.id, enabled: true, revision: tenant.revision };
  },
  "playground.ask": async () => {
    // Seen just now, as a node whose socket is open.
    await control.db.host.update({
      where: { id: nodeId },
      data: { lastSeenAt: new Date(), connectedAt: new Date() },
    });
    return { nodeId, route: "helm-auto", prompt: "who are you?" };
  },
  "playground.cancel": async () => {
    const run = { nodeId, personId: control.ids.admin, state: "RUNNING" };
    const ask = { route: "helm-auto", system: null, prompt: "who are you?", maxTokens: 8 };
    const deadlineAt = new Date(Date.now() + 60_000);
    return { id: (await control.db.playgroundRun.create({ data: { ...run, ask, deadlineAt } })).id };
  },
  "tenant.setTraceText": async () => ({ ...(await someTenant()), hours: 24 }),
  "traffic.text": async () => {
    const { id } = traceOf();
    const text = { prompt: "user: who are you?", answer: null, cut: false };
    const { text: _, ...document } = traceOf({ id });
    await control.db.requestTrace.create({
      data: {
        ...{ id, at: new Date(), nodeId, tenantId: "t", pairId: "", route: "", decision: "", reason: "" },
        ...{ transfer: "", status: 200, errorCode: "", kept: "rate", shareKind: "", document, text },
      },
    });
    return { id };
  },
  "tenant.update": async () => ({ ...(await someTenant()), window: 8 }),
  "tenant.archive": async () => someTenant(),
  "tenant.restore": async () => {
    const { id, revision } = await control.as("admin").tenant.archive(await someTenant());
    return { id, revision };
  },
  "tenant.remove": async () => someTenant(),
  "key.rotate": async () => {
    const tenantId = (await someTenant()).id;
    return { id: (await control.as("admin").key.create({ tenantId, name: "rotated" })).id };
  },
  "key.create": async () => ({
    tenantId: (await control.as("admin").tenant.create({ name: "keys" })).id,
    name: "ci",
  }),
  "key.revoke": async () => {
    const tenant = await control.as("admin").tenant.create({ name: "revoked" });
    return { id: (await control.as("admin").key.create({ tenantId: tenant.id, name: "old" })).id };
  },
  "pair.place": async () => ({
    id: pairId,
    nodeIds: [nodeId],
    revision: (await control.as("viewer").pair.placement({ id: pairId })).revision,
  }),
  "pair.unplace": async () => ({
    id: pairId,
    revision: (await control.as("viewer").pair.placement({ id: pairId })).revision,
  }),
  "node.drain": async () => ({ id: nodeId }),
  "node.undrain": async () => ({ id: nodeId }),
  "node.canary": async () => ({ id: nodeId }),
  "snapshot.rollback": async () => {
    const { generation } = await control.as("viewer").snapshot.state();
    return { generation: 1, newest: generation };
  },
  "snapshot.release": async () => ({
    held: (await control.as("viewer").snapshot.state()).hold?.generation,
  }),
  "host.createJoinToken": async () => ({ kind: "node" }),
  "host.cancelJoinToken": async () => ({
    id: (await control.as("admin").host.createJoinToken({ kind: "node" })).id,
  }),
  "host.revoke": async () => {
    const { token } = await control.as("admin").host.createJoinToken({ kind: "worker" });
    return { id: (await joinWorker(control, token)).id };
  },
};

/** The row of whom `control.as("admin")` acts as. */
async function ensureSelf(): Promise<void> {
  const { admin } = control.ids;
  if (!(await control.db.user.findUnique({ where: { id: admin } }))) await addPerson(control, "admin", admin);
}

async function someone(): Promise<{ id: string; revision: number }> {
  return { id: (await addPerson(control, "viewer")).id, revision: 1 };
}

async function someTenant(): Promise<{ id: string; revision: number }> {
  const name = `t-${randomBytes(4).toString("hex")}`;
  const { id, revision } = await control.as("admin").tenant.create({ name });
  return { id, revision };
}

async function openRun(): Promise<string> {
  const open = (await control.as("viewer").pair.get({ id: pairId })).calibrating;
  return open ?? (await control.as("admin").calibration.start({ pairId, device: "cpu" })).id;
}

/** Of the pair the other way round, calibrated once. */
async function reverseMapper(): Promise<string> {
  const admin = control.as("admin");
  await admin.calibration.cancel({ id: await openRun() });
  const reverse =
    (await admin.pair.list()).find((pair) => pair.source.id === "target" && pair.target.id === "pilot")?.id ??
    (await registerPair(control, worker, "target", "pilot")).pairId ??
    "";
  await worker.inspectAll(BUNDLED);
  await admin.calibration.start({ pairId: reverse, device: "cpu" });
  await worker.run(randomBytes(64), { share: 1 });
  return (await admin.mapper.list({ pairId: reverse })).rows.at(0)?.sha256 ?? "";
}

/** A mapper that is INACTIVE (of the second clear) or the newest one there is. */
async function clearedMapper(runs: number): Promise<string> {
  await control.as("admin").calibration.cancel({ id: await openRun() });
  // What the mutations before this one left in the queue goes first.
  await worker.inspectAll(BUNDLED);
  for (let i = 0; i < runs; i += 1) {
    await openRun();
    await worker.run(randomBytes(64), { share: 1 });
  }
  const [newest] = (await control.as("viewer").mapper.list({ pairId })).rows;
  return newest?.id ?? "";
}

describe("audit", () => {
  it("knows how to do every mutation", () => {
    expect(Object.keys(DO).sort()).toEqual([...mutations].sort());
  });

  it.each(mutations)("%s writes its row in its own transaction", async (path) => {
    const input = await DO[path]?.();
    const requestId = randomUUID();
    await call(path.startsWith("setup.") ? "nobody" : "admin", path, input, requestId);
    const rows = await control.db.auditEntry.findMany({ where: { requestId } });
    expect(rows.map((row) => row.verb)).toContain(path);
    expect(rows.every((row) => row.actorName !== "")).toBe(true);
  });

  it("keeps nothing secret", async () => {
    const rows = await control.db.auditEntry.findMany();
    const text = JSON.stringify(rows);
    expect(text).not.toContain(SETUP_TOKEN);
    expect(text).not.toContain("long enough a password");
    expect(text).not.toMatch(/hlm_[a-z0-9]{8}_/);
    expect(text).not.toMatch(/join_[A-Za-z0-9_-]{20}/);
  });
});
