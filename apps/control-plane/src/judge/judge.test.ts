import { randomBytes } from "node:crypto";
import { RoutingSnapshot } from "@helm/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { judgeTable, withAnswers } from "../testing/judge";
import { connectNode, joinNode } from "../testing/node";
import { traceOf } from "../testing/traces";
import { joinWorker, registerPair, type TestWorker } from "../testing/worker";

let control: TestControlPlane;
let worker: TestWorker;
let pairId: string;
let reverseId: string;

beforeAll(async () => {
  control = await testControlPlane();
  worker = await joinWorker(control);
  pairId = (await registerPair(control, worker, "pilot", "target")).pairId ?? "";
  reverseId = (await registerPair(control, worker, "target", "pilot")).pairId ?? "";
});
afterAll(() => control.stop());

const told = async () =>
  RoutingSnapshot.parse(
    JSON.parse(
      (await control.db.routingSnapshot.findFirstOrThrow({ orderBy: { generation: "desc" } })).document,
    ),
  ).routes[0];

async function calibrate(edit = withAnswers()): Promise<string> {
  const { id } = await control.as("operator").calibration.start({ pairId, device: "cpu" });
  await worker.run(randomBytes(64), { share: 1, edit });
  return id;
}

describe("a judge's tables", () => {
  it("come of the first calibration's own probes: whole answers, and the window that the route holds back", async () => {
    const calibrationId = await calibrate();
    const tables = await control.as("viewer").judge.list({ pairId });
    expect(tables.map(({ streaming, window }) => [streaming, window])).toEqual([
      ["window", 64],
      ["buffer", null],
    ]);
    expect(tables[0]).toMatchObject({
      calibrationId,
      label: "target_differs",
      n: 200,
      stale: false,
      usedBy: [],
      origin: { kind: "probes" },
    });
    expect(tables[0]?.auc).toBeGreaterThan(0.6);
    expect((await told())?.judge.table).toBeUndefined();
    // The second run leaves the tables as they are; a page of its log does not carry the answers.
    const second = await calibrate();
    expect(await control.as("viewer").judge.list({ pairId })).toHaveLength(2);
    const { events } = await control.as("viewer").calibration.events({ id: second });
    expect(events.filter(({ type }) => type === "judge_rows").map(({ body }) => body)).toEqual([
      {},
      {},
      {},
      {},
    ]);
  });

  it("are fitted for another window when asked, once, and not of a run that brought no answers", async () => {
    const calibrationId = await calibrate();
    const operator = control.as("operator");
    const asked = { calibrationId, streaming: "window" as const, window: 8 };
    const fitted = await operator.judge.fit(asked);
    expect(fitted).toMatchObject({ streaming: "window", window: 8, calibrationId });
    await expect(operator.judge.fit(asked)).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(operator.judge.fit({ ...asked, window: null })).rejects.toMatchObject({
      code: "BAD_REQUEST",
    });
    await expect(operator.judge.fit({ ...asked, label: "target_better", window: 9 })).resolves.toMatchObject({
      label: "target_better",
    });
    const silent = await calibrate((events) => events);
    await expect(operator.judge.fit({ ...asked, calibrationId: silent })).rejects.toMatchObject({
      code: "BAD_REQUEST",
      message: expect.stringMatching(/lifeboat helm judge fit --source-model pilot/),
    });
    const few = await calibrate(withAnswers(30));
    await expect(operator.judge.fit({ ...asked, calibrationId: few })).rejects.toMatchObject({
      message: expect.stringMatching(/30 labelled answers/),
    });
  });

  it("are found by the beginning of their digest, and brought only for a pair of these weights", async () => {
    const table = judgeTable(3);
    const brought = await control.as("operator").judge.import({ table });
    const found = await control.as("viewer").judge.get({ id: brought.sha256.slice(0, 10) });
    expect(found.table).toEqual(table);
    await expect(control.as("operator").judge.import({ table })).rejects.toMatchObject({ code: "CONFLICT" });
    const weights = { source: "0".repeat(64), target: null };
    await expect(
      control.as("operator").judge.import({ table: judgeTable(4, undefined, { weights }) }),
    ).rejects.toMatchObject({ message: expect.stringMatching(/other weights/) });
    const pair = { source: "pilot", target: "odd" };
    await expect(
      control.as("operator").judge.import({ table: judgeTable(4, undefined, { pair }) }),
    ).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(control.as("viewer").judge.get({ id: "ffffffffff" })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });
});

describe("a table's probabilities", () => {
  it("are held to what the target said to kept requests, of this table alone, each for as many as it was drawn for", async () => {
    const table = await control.as("operator").judge.import({
      table: judgeTable(21, undefined, { label: "target_differs" }),
    });
    const viewer = control.as("viewer");
    expect(await viewer.judge.check({ id: table.id })).toBeNull();
    const node = await joinNode(control, "judged");
    const { socket } = connectNode(control.url, node.credential);
    const kept = (score: number, agreed: number, over: { table?: string; propensity?: number } = {}) =>
      traceOf({
        pair_id: pairId,
        kept: "share",
        judge: {
          version: "logistic-1",
          measure: "probability",
          score,
          threshold: 0.5,
          escalate: false,
          label: null,
          table: over.table ?? table.sha256,
          evidence: {},
        },
        share: {
          kind: "kept_also_target",
          propensity: over.propensity ?? 0.02,
          positions: { agreed, compared: 10 },
        },
      });
    const traces = [
      kept(0.1, 10),
      kept(0.1, 10),
      kept(0.2, 3, { propensity: 0.01 }),
      kept(0.9, 0, { table: "a".repeat(64) }),
    ];
    expect(await socket.timeout(30_000).emitWithAck("traces", { traces })).toEqual({ ok: true });
    socket.disconnect();
    const found = await viewer.judge.check({ id: table.id });
    expect(found?.requests).toBe(3);
    expect(found?.predicted).toBeCloseTo(0.15);
    expect(found?.observed.value).toBeCloseTo(0.5);
    expect(found?.observed.low).toBeLessThan(0.5);
    await control.as("operator").judge.remove({ id: table.id });
  });
});

describe("a route", () => {
  const route = async () => {
    const found = await control.as("viewer").route.get();
    if (!found) throw new Error("no route");
    return found;
  };
  const update = async (change: object) => {
    const { name, revision } = await route();
    return control.as("admin").route.update({ name, revision, ...change });
  };

  it("judges by a table at a rate or a floor, and nodes are told the table with its threshold", async () => {
    const windowed = await control
      .as("operator")
      .judge.import({ table: judgeTable(5, { streaming: "window", window: 64 }) });
    const stored = await update({ judgeTable: { id: windowed.id, by: { escalation_rate: 0.3 } } });
    expect(stored.judgeTable).toMatchObject({
      id: windowed.id,
      by: { escalation_rate: 0.3 },
      threshold: { rate: 0.3, requests: 600, guaranteed: true },
    });
    const served = (await told())?.judge.table;
    expect(served).toMatchObject({
      sha256: windowed.sha256,
      streaming: "window",
      window: 64,
      threshold: stored.judgeTable?.threshold.threshold,
    });
    expect(served).not.toHaveProperty("curve");
    const floor = await update({ judgeTable: { id: windowed.id, by: { quality_floor: 0.8 } } });
    expect(floor.judgeTable?.by).toEqual({ quality_floor: 0.8 });
    expect(floor.judgeTable?.threshold.low).toBeGreaterThanOrEqual(0.8);
    expect((await told())?.judge.table?.threshold).toBe(floor.judgeTable?.threshold.threshold);
    const [newest] = (await control.as("viewer").snapshot.list({})).rows;
    const { differences } = await control.as("viewer").snapshot.get({ generation: newest?.generation ?? 0 });
    expect(differences.map(({ field }) => field)).toContain("judge table");
    await expect(control.as("operator").judge.remove({ id: windowed.id })).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringMatching(/helm-auto judges by this table/),
    });
  });

  it("keeps no table that was not fitted for what it holds back, for its pair, or for its floor", async () => {
    const before = await route();
    for (const [change, why] of [
      [{ window: 32 }, /judges the first 64 tokens, and the route would hold back the first 32 tokens/],
      [{ streaming: "buffer" }, /whole answers/],
      [{ streaming: "stream" }, /stream never escalates/],
      [{ pairId: reverseId }, /another pair/],
      [{ judgeTable: { id: before.judgeTable?.id, by: { quality_floor: 0.9999 } } }, /cannot be shown/],
    ] as const)
      await expect(update(change)).rejects.toMatchObject({
        code: "BAD_REQUEST",
        message: expect.stringMatching(why),
      });
    await expect(
      update({ judgeTable: { id: "00000000-0000-4000-8000-000000000000", by: { escalation_rate: 0.1 } } }),
    ).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await route()).toEqual(before);
  });

  it("says what a choice comes to before it is stored", async () => {
    const { judgeTable: held } = await route();
    const id = held?.id ?? "";
    const viewer = control.as("viewer");
    const threshold = await viewer.judge.threshold({ id, by: { escalation_rate: 0.1 } });
    expect(threshold.rate).toBe(0.1);
    const { sentences } = await viewer.route.preview({
      name: "helm-auto",
      judgeTable: { id, by: { escalation_rate: 0.1 } },
    });
    expect(sentences).toContain(threshold.sentence);
    expect((await viewer.route.preview({ name: "helm-auto", judgeTable: null })).sentences.join(" ")).toMatch(
      /no longer judges/,
    );
    expect((await viewer.route.preview({ name: "helm-auto", window: 8 })).sentences.join(" ")).toMatch(
      /refused while the route keeps its judge's table/,
    );
  });

  it("goes back to its bounds while a model has other weights than the table was fitted on", async () => {
    const shaOf = async (name: string) =>
      (await control.db.model.findUniqueOrThrow({ where: { name } })).weightsSha256;
    const weights = { source: await shaOf("pilot"), target: await shaOf("target") };
    const own = await control
      .as("operator")
      .judge.import({ table: judgeTable(6, { streaming: "window", window: 64 }, { weights }) });
    await update({ judgeTable: { id: own.id, by: { escalation_rate: 0.2 } } });
    expect((await told())?.judge.table?.sha256).toBe(own.sha256);
    const model = await control.db.model.findUniqueOrThrow({ where: { name: "pilot" } });
    await control.db.model.update({ where: { name: "pilot" }, data: { weightsSha256: "e".repeat(64) } });
    await update({ defaultMaxTokens: 99 });
    expect((await told())?.judge.table).toBeUndefined();
    expect((await route()).judgeTable).toMatchObject({ id: own.id, stale: true });
    await control.db.model.update({
      where: { name: "pilot" },
      data: { weightsSha256: model.weightsSha256 },
    });
    await update({ judgeTable: null });
    expect((await route()).judgeTable).toBeNull();
    await control.as("operator").judge.remove({ id: own.id });
  });
});
