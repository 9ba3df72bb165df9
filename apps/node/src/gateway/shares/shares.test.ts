import { type RequestTrace, RequestTrace as Trace } from "@helm/contracts";
import { describe, expect, it } from "vitest";
import type { JsonBody } from "../../engine/engine-client";
import { compareCopies } from "../../escalation/greedy-copy";
import { chat, GatewayFixture } from "../../testing/gateway-fixture";
import { type Script, words } from "../../testing/scripted-engine";
import { Shares } from "./shares";

const on = new GatewayFixture();
const NONE = { kept_also_target: 0, escalated_also_native: 0, forced_escalation: 0 };
const kv = (body: JsonBody | undefined) => (body?.kv_transfer_params ?? {}) as JsonBody;

function share(over: Partial<typeof NONE>): void {
  on.gateway.dials.route.shares = { ...NONE, ...over };
}

/** The one trace of a request, once its share is settled. */
async function traced(): Promise<RequestTrace | undefined> {
  const { outbox } = on.gateway.resources.traces;
  const found: RequestTrace[] = [];
  await expect
    .poll(
      () => {
        const batch = outbox.report();
        if (batch) {
          found.push(...batch.traces.map((trace) => Trace.parse(JSON.parse(JSON.stringify(trace)))));
          outbox.sent(batch);
        }
        return found.length;
      },
      { timeout: 10_000 },
    )
    .toBe(1);
  return found[0];
}

const counted = async () =>
  Object.fromEntries(
    (await on.gateway.resources.metrics.shares.get()).values.map(({ labels, value }) => [
      `${labels.kind} ${labels.result}`,
      value,
    ]),
  );
const requests = async () =>
  (await on.gateway.resources.metrics.requests.get()).values.reduce((sum, { value }) => sum + value, 0);

/** By model and by whether it is a copy; the pilot is sure. */
function says(pilot: string, target: string, native = target): void {
  on.engine.script = (body): Script => {
    if (kv(body).do_stage) return { tokens: words("x"), report: { result: "staged" } };
    if (body.model === "pilot") return { tokens: words(pilot) };
    if (kv(body).mapper_sha256)
      return { tokens: words(target), report: { result: "transferred", tokens_moved: 2, tail_tokens: 1 } };
    return { tokens: words(kv(body).native_salt ? target : native, -0.5) };
  };
}

describe("random shares", () => {
  it("have the target answer a kept request as well, greedily, where nobody finds what it left", async () => {
    share({ kept_also_target: 1, forced_escalation: 0 });
    says("one two three four", "one two else");
    const answer = await on.ask(chat({ temperature: 0.9, n: 2, seed: 3 }));
    expect(answer.body.helm).toMatchObject({ decision: "kept", served_by: "pilot" });
    const trace = await traced();
    expect(trace).toMatchObject({
      kept: "share",
      decision: "kept",
      share: {
        kind: "kept_also_target",
        propensity: 1,
        positions: { agreed: 2, compared: 3 },
        first_token_agrees: true,
        target_mean_loglik: -0.5,
      },
    });
    expect(trace?.share?.pilot_mean_loglik).toBeUndefined();
    expect(trace?.legs.map(({ role, model }) => [role, model])).toEqual([
      ["pilot", "pilot"],
      ["share", "pilot"],
      ["share", "target"],
    ]);
    const [own, pilot, target] = on.engine.legs.map((leg) => leg.body);
    expect(pilot).toMatchObject({ temperature: 0, n: 1, cache_salt: own?.cache_salt });
    expect(target).toMatchObject({ temperature: 0, n: 1, max_tokens: 32 });
    expect(pilot?.seed).toBeUndefined();
    expect(target?.cache_salt).not.toBe(own?.cache_salt);
    expect(await requests()).toBe(1);
    expect(await counted()).toEqual({ "kept_also_target done": 1 });
  });

  it("have the target prefill an escalated request as well", async () => {
    share({ escalated_also_native: 1 });
    on.gateway.dials.route.judge = { version: "logprob-1", mean_logprob: 0, min_logprob: 0 };
    says("no", "one two three", "one two four");
    await on.ask(chat());
    expect((await traced())?.share).toMatchObject({
      kind: "escalated_also_native",
      propensity: 1,
      positions: { agreed: 2, compared: 3 },
      first_token_ms: expect.any(Number),
    });
    const [, , transferred, again, native] = on.engine.legs.map((leg) => leg.body);
    expect([again?.model, again?.cache_salt]).toEqual(["target", transferred?.cache_salt]);
    expect(kv(native)).toEqual({});
    expect(native?.cache_salt).not.toBe(again?.cache_salt);
  });

  it("escalate a few sure answers, and tell beside it what the pilot says", async () => {
    share({ forced_escalation: 1, kept_also_target: 1 });
    says("one two", "one two");
    const answer = await on.ask(chat());
    expect(answer.body.helm).toMatchObject({
      decision: "escalated",
      reason: "FORCED_SHARE",
      served_by: "target",
      transfer: "transferred",
      judge: { escalate: false },
    });
    expect((await traced())?.share).toMatchObject({
      kind: "forced_escalation",
      positions: { agreed: 2, compared: 2 },
    });
  });

  it("draw by their probabilities, and put the probability on record with which it came", async () => {
    const drawn = [0.3, 0.05];
    on.gateway.resources.shares = new Shares(() => drawn.shift() ?? 1);
    share({ forced_escalation: 0.2, kept_also_target: 0.1 });
    await on.ask(chat());
    expect((await traced())?.share?.propensity).toBeCloseTo(0.1 * 0.8);
    await on.ask(chat());
    expect(await counted()).toEqual({ "kept_also_target done": 1 });
  });

  it("never run where somebody waits or half of the room is taken, and the caller has its answer all the same", async () => {
    share({ kept_also_target: 1 });
    const gate = on.gateway.resources.engine()?.gates.get("target");
    const held = await gate?.admit({ tenant: "x", bytes: Math.round(gate.capacity * 0.6), deadlineMs: 0 });
    expect(held?.outcome).toBe("admitted");
    expect((await on.ask(chat())).body.helm.decision).toBe("kept");
    expect((await traced())?.share).toBeNull();
    expect(await counted()).toEqual({ "kept_also_target no_room": 1 });
  });

  it("give way as soon as somebody has to wait, and hold nothing afterwards", async () => {
    share({ kept_also_target: 1 });
    on.engine.script = (body) => ({ tokens: words("a b c"), hang: body.temperature === 0 });
    await on.ask(chat({ temperature: 1 }));
    await expect.poll(() => on.engine.legs.length, { timeout: 10_000 }).toBe(2);
    const gate = on.gateway.resources.engine()?.gates.get("pilot");
    if (!gate) throw new Error("the engine serves");
    // It fits only once the copy has given its room back.
    const whole = await gate.admit({ tenant: "x", bytes: gate.capacity, deadlineMs: 10_000 });
    expect(whole.outcome).toBe("admitted");
    expect((await traced())?.share).toBeNull();
    expect(await counted()).toEqual({ "kept_also_target gave_way": 1 });
    if (whole.outcome === "admitted") whole.reservation.release();
    expect(gate.available).toBe(gate.capacity);
  });

  it("end with the node", async () => {
    share({ kept_also_target: 1 });
    on.engine.script = (body) => ({ tokens: words("a b c"), hang: body.temperature === 0 });
    await on.ask(chat({ temperature: 1 }));
    await expect.poll(() => on.engine.legs.length, { timeout: 10_000 }).toBe(2);
    on.gateway.resources.shares.close();
    expect((await traced())?.share).toBeNull();
    await expect.poll(() => on.engine.legs[1]?.aborted, { timeout: 10_000 }).toBe(true);
  });
});

it.each([
  [[], [], 0, 0],
  [[1], [1], 1, 1],
  [[1, 2], [1, 3], 1, 2],
  [[1, 2], [1], 1, 2],
  [[2], [1], 0, 1],
])("live agreement of %j and %j is %i of %i", (first, second, agreed, compared) => {
  expect(compareCopies(first, second)).toEqual({ agreed, compared });
  expect(compareCopies(second, first)).toEqual({ agreed, compared });
});
