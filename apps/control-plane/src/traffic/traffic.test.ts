import type { NodeStats, RequestTrace } from "@helm/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { connectNode, joinNode } from "../testing/node";
import { statsReport, statsRow, traceOf } from "../testing/traces";
import { outsideTransaction } from "../transaction";
import { compactStats } from "./compact-stats";
import { expireTraces } from "./expire-traces";

const HOUR = 3_600_000;

let control: TestControlPlane;
let say: (event: "stats" | "traces", body: unknown) => Promise<unknown>;
let hangUp: () => void;
beforeAll(async () => {
  control = await testControlPlane();
  const node = await joinNode(control, "n1");
  const { socket } = connectNode(control.url, node.credential);
  say = (event, body) => socket.timeout(30_000).emitWithAck(event, body);
  hangUp = () => socket.disconnect();
});
afterAll(async () => {
  hangUp();
  await control.stop();
});

const viewer = () => control.as("viewer").traffic;
const stats = async (report: NodeStats) => expect(await say("stats", report)).toEqual({ ok: true });
const traces = async (...sent: RequestTrace[]) =>
  expect(await say("traces", { traces: sent })).toEqual({ ok: true });
const context = () => {
  const { services } = control;
  const actor = { kind: "system", name: "test" } as const;
  return outsideTransaction({ services, actor, requestId: "test", address: "local", log: services.log });
};

describe("counters", () => {
  const tenant = "counted";
  beforeAll(async () => {
    const row = (over: Parameters<typeof statsRow>[0]) => statsRow({ tenant_id: tenant, ...over });
    await stats(
      statsReport([
        row({ requests: 70 }),
        row({ requests: 10, reason: "STREAM_MODE" }),
        row({
          decision: "escalated",
          reason: "LOW_MEAN",
          transfer: "transferred",
          requests: 15,
          tokens_moved: 900,
        }),
        row({ decision: "escalated", reason: "TIMEOUT", transfer: "fallback", requests: 5 }),
        row({ decision: "escalated", reason: "AGENT", transfer: "transferred", requests: 4 }),
        row({
          decision: "refused",
          reason: "kv_memory_short",
          transfer: null,
          pair_id: null,
          requests: 2,
          first_token_ms_sum: 0,
          shortfall_bytes_sum: 3_000,
        }),
        row({
          decision: "failed",
          reason: "engine_error",
          transfer: null,
          pair_id: null,
          requests: 1,
          first_token_ms_sum: 0,
        }),
        row({
          decision: "client_error",
          reason: "model_not_found",
          transfer: null,
          pair_id: null,
          requests: 3,
          first_token_ms_sum: 0,
        }),
      ]),
    );
  });

  it("give the escalation rate of what was judged, with its interval", async () => {
    const { total, escalation, transfers } = await viewer().summary({ hours: 1, tenant });
    expect(total).toMatchObject({ requests: 110, judged: 90, judgedHard: 20 });
    expect(total).toMatchObject({ refused: 2, failed: 1, clientErrors: 3 });
    expect(escalation).toMatchObject({ count: 20, of: 90 });
    // Wilson's interval of 20 in 90, worked out by hand.
    expect(escalation?.low).toBeCloseTo(0.1489, 3);
    expect(escalation?.high).toBeCloseTo(0.3185, 3);
    expect(transfers).toMatchObject({ count: 19, of: 24 });
  });

  it("give every reason with its kind, and the bytes a refusal was short of", async () => {
    const { rows } = await viewer().reasons({ hours: 1, tenant });
    const found = Object.fromEntries(rows.map((row) => [row.reason, row]));
    expect(found.TIMEOUT).toMatchObject({ kind: "fallback", requests: 5, share: 1 });
    expect(found.kv_memory_short).toMatchObject({ kind: "refusal", requests: 2, shortfallBytesMean: 1_500 });
    expect(found.engine_error?.kind).toBe("failure");
    expect(found.model_not_found).toMatchObject({ kind: "client_error", requests: 3 });
    expect(found.CONFIDENT).toMatchObject({ kind: "decision", requests: 70 });
  });

  it("draw a line without gaps, whose sum is what was counted", async () => {
    for (const [hours, stepS] of [
      [1, 60],
      [6, 300],
      [24, 3_600],
      [720, 43_200],
    ] as const) {
      const series = await viewer().series({ hours, tenant });
      expect(series.stepS).toBe(stepS);
      const at = series.points.map((point) => point.at.getTime());
      expect(at.slice(1).every((time, n) => time - (at[n] ?? 0) === stepS * 1_000)).toBe(true);
      const WAYS = ["pilot", "transferred", "prefilled", "refused", "failed", "clientErrors"] as const;
      const sums = WAYS.map((of) => series.points.reduce((all, point) => all + point[of], 0));
      expect(sums).toEqual([80, 19, 5, 2, 1, 3]);
    }
  });

  it("are moved into hours and stand in one of the two tables, late reports too", async () => {
    const old = "long-ago";
    const then = new Date(Date.now() - 30 * HOUR);
    const report = () => statsReport([statsRow({ tenant_id: old, requests: 3 })], {}, then);
    await stats(report());
    const counted = async () => (await viewer().summary({ hours: 72, tenant: old })).total.requests;
    expect(await counted()).toBe(3);
    while (await compactStats(context()));
    expect(await control.db.requestStat.count({ where: { tenantId: old } })).toBe(0);
    expect(await counted()).toBe(3);
    await stats(report());
    expect(await counted()).toBe(6);
    while (await compactStats(context()));
    expect(await counted()).toBe(6);
    expect(await control.db.requestStatHour.count({ where: { tenantId: old } })).toBe(1);
  });

  it("of several nodes become one row once their minute is over, late reports too", async () => {
    const tenant = "of-two-nodes";
    const other = await joinNode(control, "n2");
    const { socket } = connectNode(control.url, other.credential);
    const then = new Date(Date.now() - 10 * 60_000);
    const report = () => statsReport([statsRow({ tenant_id: tenant, requests: 3 })], {}, then);
    const rows = () => control.db.requestStat.findMany({ where: { tenantId: tenant } });
    await stats(report());
    expect(await socket.timeout(30_000).emitWithAck("stats", report())).toEqual({ ok: true });
    socket.disconnect();
    expect(await rows()).toHaveLength(2);
    await compactStats(context());
    expect(await rows()).toMatchObject([{ nodeId: "", requests: 6n, firstTokenMsSum: 20 }]);
    await stats(report());
    await compactStats(context());
    expect(await rows()).toMatchObject([{ nodeId: "", requests: 9n, firstTokenMsSum: 30 }]);
    expect((await viewer().summary({ hours: 1, tenant })).total.requests).toBe(9);
  });

  it("tell what a transfer saves by the prompt's length", async () => {
    const pair = "p-lengths";
    const length = (transfer: "transferred" | "fallback", from: number, ms: number[]) => ({
      pair_id: pair,
      transfer,
      from_tokens: from,
      requests: ms.length,
      first_token_ms_sum: ms.reduce((a, b) => a + b, 0),
      first_token_ms_squares: ms.reduce((a, b) => a + b * b, 0),
    });
    await stats(
      statsReport([], {
        lengths: [
          length("transferred", 1_024, [50, 60, 70]),
          length("fallback", 1_024, [150, 160, 170]),
          length("fallback", 64, [9]),
        ],
      }),
    );
    const { rows } = await viewer().lengths({ hours: 1, pair });
    expect(rows.map(({ fromTokens }) => fromTokens)).toEqual([64, 1_024]);
    expect(rows[0]).toMatchObject({ transferred: null, prefilled: { requests: 1, sdMs: null }, saved: null });
    expect(rows[1]?.saved?.ms).toBeCloseTo(100);
    // Both spread by 10 over three: 1.96 * sqrt(100/3 + 100/3).
    expect(rows[1]?.saved?.low).toBeCloseTo(100 - 16.003, 2);
  });
});

describe("traces", () => {
  it("are stored once, whatever comes again", async () => {
    const trace = traceOf({ tenant_id: "once" });
    await traces(trace, traceOf({ tenant_id: "once" }));
    await traces(trace);
    const { rows } = await viewer().requests({ hours: 1, tenant: "once" });
    expect(rows).toHaveLength(2);
    expect((await viewer().trace({ id: trace.id })).trace).toEqual({ ...trace, text: undefined });
    expect(await say("traces", { traces: [{ ...trace, id: "odd" }] })).toEqual({ ok: false, refused: true });
  });

  it("are listed newest first in pages that neither repeat nor leave out, narrowed by what was asked", async () => {
    const tenant = "listed";
    const at = (n: number) => new Date(Date.now() - n * 1_000).toISOString();
    const made = Array.from({ length: 25 }, (_, n) =>
      // Three of one moment each: the id decides.
      traceOf({
        tenant_id: tenant,
        at: at(Math.floor(n / 3)),
        ...(n % 5 === 0 && {
          decision: "escalated",
          transfer: "fallback",
          reason: "TIMEOUT",
          kept: "fallback",
        }),
      }),
    );
    const refusal = traceOf({
      tenant_id: tenant,
      decision: null,
      reason: null,
      status: 429,
      error_code: "tenant_quota",
      kept: "refusal",
    });
    const ended = (status: number, error_code: string) =>
      traceOf({ tenant_id: tenant, decision: null, reason: null, status, error_code, kept: "error" });
    const mistakes = [ended(404, "model_not_found"), ended(400, "invalid_value"), ended(499, "client_gone")];
    await traces(...made, refusal, ...mistakes, ended(502, "engine_error"));
    const seen: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await viewer().requests({ hours: 1, tenant, limit: 7, cursor });
      seen.push(...page.rows.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(seen).toHaveLength(30);
    expect(new Set(seen).size).toBe(30);
    const found = async (narrowed: object) =>
      (await viewer().requests({ hours: 1, tenant, ...narrowed })).rows.length;
    expect(await found({ reason: "TIMEOUT" })).toBe(5);
    expect(await found({ transfer: "fallback", decision: "escalated" })).toBe(5);
    // As the counters tell them apart, so that a figure and its list agree.
    expect(await found({ decision: "refused" })).toBe(1);
    expect(await found({ decision: "failed" })).toBe(1);
    expect(await found({ decision: "client_error" })).toBe(3);
    expect(await found({ reason: "client_gone" })).toBe(1);
    expect(await found({ reason: "tenant_quota" })).toBe(1);
    expect(await found({ kept: "share" })).toBe(0);
  });

  it("expire", async () => {
    const trace = traceOf();
    await traces(trace);
    const where = { id: trace.id };
    await control.db.requestTrace.update({
      where,
      data: { receivedAt: new Date(Date.now() - 6.9 * 24 * HOUR) },
    });
    await expireTraces(context());
    expect((await viewer().trace(where)).id).toBe(trace.id);
    await control.db.requestTrace.update({
      where,
      data: { receivedAt: new Date(Date.now() - 7.1 * 24 * HOUR) },
    });
    await expireTraces(context());
    await expect(viewer().trace(where)).rejects.toThrow(/no trace of this id/);
  });
});

describe("what was said", () => {
  const text = { prompt: "user: who are you?", answer: "a test", cut: false };

  it("is kept of an opted-in tenant alone, is no viewer's, and its reading leaves a row", async () => {
    const admin = control.as("admin");
    const made = await admin.tenant.create({ name: "tells" });
    const silent = traceOf({ tenant_id: made.id, text });
    await traces(silent);
    await expect(control.as("operator").traffic.text({ id: silent.id })).rejects.toThrow(/has no text/);
    const open = await admin.tenant.setTraceText({ id: made.id, hours: 1, revision: made.revision });
    expect(open.traceTextUntil?.getTime()).toBeGreaterThan(Date.now());
    const told = traceOf({ tenant_id: made.id, text });
    await traces(told);
    const seen = await viewer().trace({ id: told.id });
    expect(seen.hasText).toBe(true);
    expect(JSON.stringify(seen)).not.toContain("who are you");
    await expect(viewer().text({ id: told.id })).rejects.toThrow(/needs the role operator/);
    expect(await control.as("operator").traffic.text({ id: told.id })).toEqual(text);
    const rows = await control.db.auditEntry.findMany({ where: { verb: "traffic.text" } });
    expect(rows.map(({ entityId, actorName }) => [entityId, actorName])).toEqual([
      [told.id, "operator@example.com"],
    ]);
    expect(JSON.stringify(rows)).not.toContain("who are you");
    // Withdrawn: what was kept is gone, and what a node sends that has not heard of it is not stored.
    await admin.tenant.setTraceText({ id: made.id, hours: null, revision: open.revision });
    await expect(control.as("operator").traffic.text({ id: told.id })).rejects.toThrow(/has no text/);
    const late = traceOf({ tenant_id: made.id, text });
    await traces(late);
    expect((await viewer().trace({ id: late.id })).hasText).toBe(false);
  });

  it("expires before its trace", async () => {
    const admin = control.as("admin");
    const made = await admin.tenant.create({ name: "forgets" });
    await admin.tenant.setTraceText({ id: made.id, hours: 1, revision: made.revision });
    const told = traceOf({ tenant_id: made.id, text });
    await traces(told);
    await control.db.requestTrace.update({
      where: { id: told.id },
      data: { receivedAt: new Date(Date.now() - 25 * HOUR) },
    });
    await expireTraces(context());
    expect(await viewer().trace({ id: told.id })).toMatchObject({ hasText: false });
  });
});

describe("random shares", () => {
  const tenant = "shared";
  it("give live agreement, and quality against cost once there are enough", async () => {
    expect((await viewer().quality({ hours: 1, tenant })).curves).toBeNull();
    const shares = Array.from({ length: 40 }, (_, n) => {
      const hard = n % 4 === 0;
      const trace = traceOf({
        tenant_id: tenant,
        kept: "share",
        share: {
          kind: "kept_also_target",
          propensity: 0.5,
          first_token_agrees: !hard,
          positions: { agreed: hard ? 1 : 8, compared: hard ? 2 : 8 },
          pilot_mean_loglik: hard ? -3 : -0.5,
          target_mean_loglik: hard ? -0.5 : -0.4,
        },
      });
      const judge = trace.judge && { ...trace.judge, score: hard ? -2 : -0.2 };
      return { ...trace, judge };
    });
    await traces(...shares);
    const agreement = await viewer().agreement({ hours: 1, tenant });
    expect(agreement.keptAlsoTarget).toMatchObject({
      requests: 40,
      firstToken: { count: 30, of: 40 },
      positions: { count: 250, of: 260 },
    });
    const { curves, measure } = await viewer().quality({ hours: 1, tenant });
    expect(measure).toBe("mean_loglik");
    const at = (rate: number, points = curves?.judge) =>
      points?.find((point) => point.rate === rate)?.quality;
    expect(curves?.pilotOnly.quality).toBeCloseTo(-1.125);
    expect(curves?.targetOnly.quality).toBeCloseTo(-0.425);
    // The judge finds the hard quarter first, as the oracle does; chance finds a quarter of it.
    expect(at(0.25)).toBeCloseTo(-0.5);
    expect(at(0.25, curves?.oracle)).toBeCloseTo(-0.5);
    expect(at(0.25, curves?.random)).toBeCloseTo(-0.95);
  });
});
