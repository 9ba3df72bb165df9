import { describe, expect, it } from "vitest";
import { chat, GatewayFixture } from "../../testing/gateway-fixture";
import { words } from "../../testing/scripted-engine";

const on = new GatewayFixture();
const overloaded = { status: 503, body: { error: { message: "full", code: "overloaded" } } };

/** TEST DOUBLE's: the engine has no room for the first so many requests of a model. */
function fullFor(model: string, times: number): void {
  let left = times;
  on.engine.script = (body) => {
    const refused = body.model === model && left-- > 0;
    return refused ? { tokens: [], refuse: overloaded } : { tokens: words(`from the ${body.model}`) };
  };
}

const limits = { admissionMs: 20_000 };

describe("an engine that has no room yet", () => {
  it.each([
    [{ model: "pilot" }, "pilot"],
    [{ model: "target", stream: true }, "target"],
    [{}, "pilot"],
  ])("is asked again for %o until it has, and the client learns nothing of it", async (extra, model) => {
    await on.restart({ limits });
    fullFor(model, 2);
    const answer = await on.ask(chat(extra));
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.body)).toContain(model);
    expect(on.engine.legs.map((leg) => leg.body.model)).toEqual([model, model, model]);
    const metrics = await (await fetch(`${on.gateway.origin}/metrics`)).text();
    expect(metrics).toContain('helm_admission_total{outcome="retry"} 1');
    const gate = on.gateway.resources.engine()?.gates.get(model);
    expect([gate?.retries.size, gate?.reserved, gate?.handed]).toEqual([0, 0, { rows: 0, tokens: 0 }]);
  });

  it("lets nobody in before what it sent back", async () => {
    await on.restart({ limits });
    fullFor("pilot", 3);
    const first = on.ask(chat({ model: "pilot", user: "first" }));
    const gate = on.gateway.resources.engine()?.gates.get("pilot");
    await expect.poll(() => gate?.retries.size, { timeout: 15_000 }).toBe(1);
    const second = on.ask(chat({ model: "pilot", user: "second" }));
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
    expect(on.engine.legs.map((leg) => leg.body.user).at(-1)).toBe("second");
    expect(on.engine.legs.filter((leg) => leg.body.user === "second")).toHaveLength(1);
  });

  it("is a typed refusal at the deadline", async () => {
    await on.restart({ limits: { admissionMs: 150 } });
    fullFor("pilot", 1e9);
    const answer = await on.ask(chat({ model: "pilot" }));
    expect([answer.status, answer.body.error.code]).toEqual([503, "no_capacity"]);
    expect(answer.headers.get("retry-after")).toBe("2");
  });
});
