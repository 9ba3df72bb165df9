import pino from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FRESH_MS, MemoryWatch } from "../../engine/memory-watch";
import { chat, GatewayFixture } from "../../testing/gateway-fixture";
import { words } from "../../testing/scripted-engine";

const on = new GatewayFixture();

/** SIMULATED TELEMETRY: the engine's memory report is the double's, and time passes when a test says so. */
describe("an engine that no longer tells its memory", () => {
  let now = 0;
  let watch: MemoryWatch;

  beforeEach(() => {
    now = 0;
    const clock = { now: () => now, after: () => () => {}, date: () => new Date() };
    watch = new MemoryWatch(pino({ level: "silent" }), clock);
    watch.engineChanged(on.gateway.resources.engine());
    on.gateway.resources.routing.helmRefusal = () =>
      watch.telemetry.allows("routing") ? null : "TELEMETRY_STALE";
    on.engine.script = (body) => ({ tokens: words(`from the ${body.model}`) });
  });
  afterEach(() => {
    on.engine.tellsMemory = true;
    on.engine.budgetBytes = 1 << 20;
  });

  const gateOf = (model: string) => on.gateway.resources.engine()?.gates.get(model);

  it("has its routes served by the target, with the reason, until it tells again", async () => {
    expect((await on.ask(chat())).body.helm).toMatchObject({ served_by: "pilot", decision: "kept" });
    on.engine.tellsMemory = false;
    now = FRESH_MS;
    await watch.measure();
    expect((await on.ask(chat())).body.helm.decision).toBe("kept");
    now = FRESH_MS + 1;
    const stale = await on.ask(chat());
    expect(stale.status).toBe(200);
    expect(stale.body.helm).toMatchObject({
      served_by: "target",
      decision: "direct",
      reason: "TELEMETRY_STALE",
      transfer: "fallback",
    });
    expect(watch.report).toBeNull();
    on.engine.tellsMemory = true;
    await watch.measure();
    expect((await on.ask(chat())).body.helm.decision).toBe("kept");
    expect(watch.report).not.toBeNull();
  });

  it("keeps its last limit for a model that is named, and refuses nothing", async () => {
    on.engine.tellsMemory = false;
    now = 100 * FRESH_MS;
    await watch.measure();
    const before = gateOf("pilot")?.capacity;
    expect((await on.ask(chat({ model: "pilot" }))).status).toBe(200);
    expect(gateOf("pilot")?.capacity).toBe(before);
    expect((await on.ask(chat({ model: "pilot", max_tokens: 1_000_000 }))).status).toBe(413);
  });

  it("is 503 telemetry_stale for a model of which nothing was ever measured", async () => {
    const engine = on.gateway.resources.engine();
    if (!engine) throw new Error("the engine serves");
    delete engine.memory.models.pilot;
    const answer = await on.ask(chat({ model: "pilot" }));
    expect([answer.status, answer.body.error.code]).toEqual([503, "telemetry_stale"]);
  });

  it("has the gates follow what it measures", async () => {
    on.engine.budgetBytes = 64 * 16 * 4;
    await watch.measure();
    expect(gateOf("pilot")?.capacity).toBe(64 * 16 * 4);
    expect((await on.ask(chat({ model: "pilot", max_tokens: 512 }))).status).toBe(413);
  });
});
