import { randomUUID } from "node:crypto";
import { findUnstorable } from "@helm/contracts";
import pino from "pino";
import { expect, it } from "vitest";
import { GatewayFixture } from "../testing/gateway-fixture";
import { PlaygroundDoor } from "./playground-door";
import { PlaygroundKey } from "./playground-key";

const on = new GatewayFixture();
const key = new PlaygroundKey();

function door() {
  const { routing } = on.gateway.resources;
  const known = routing.authenticate.bind(routing);
  routing.authenticate = (authorization) => key.tenantOf(authorization) ?? known(authorization);
  return new PlaygroundDoor(
    {
      key,
      origin: () => on.gateway.origin,
      route: (name) => routing.routes().get(name)?.pair ?? null,
    },
    pino({ level: "silent" }),
  );
}

const order = (over: object = {}) => ({
  id: randomUUID(),
  side: "routed",
  route: "helm-auto",
  system: null,
  prompt: "one two three",
  max_tokens: 8,
  deadline_ms: 20_000,
  ...over,
});

it("asks each model by its name and the route as any caller, and tells what became of it", async () => {
  on.unsure();
  const one = door();
  expect(await one.take(order({ side: "pilot" }))).toMatchObject({
    ok: true,
    answer: { text: "not so sure", decision: "explicit", model: "pilot", status: 200 },
  });
  expect(await one.take(order({ side: "target" }))).toMatchObject({
    ok: true,
    answer: { text: "from the target", decision: "explicit", model: "target" },
  });
  const routed = await one.take(order());
  expect(routed).toMatchObject({
    ok: true,
    answer: { decision: "escalated", transfer: "transferred", reason: "LOW_MEAN", tokens_moved: 90 },
  });
  const rows = on.gateway.resources.stats.report()?.rows ?? [];
  expect(new Set(rows.map(({ tenant_id }) => tenant_id))).toEqual(new Set(["playground"]));
  // Who asks here waits for the trace: it is sent whatever the rate.
  const traces = on.gateway.resources.traces.outbox.report()?.traces ?? [];
  expect(traces.map(({ kept }) => kept)).toEqual(["asked", "asked", "asked"]);
  expect(routed.ok && traces.some(({ id }) => id === routed.answer.trace_id)).toBe(true);
});

it("brings what a database can hold of an answer", async () => {
  on.engine.script = () => ({
    tokens: [{ text: `a\u0000${"x".repeat(16_381)}\ud83d\ude00`, logprob: -0.1 }],
  });
  const { ok, answer } = (await door().take(order({ side: "pilot" }))) as {
    ok: boolean;
    answer: { text: string };
  };
  expect([ok, answer.text.length, findUnstorable(answer)]).toEqual([true, 16_384, null]);
});

it("gives the gateway's refusal as it is, and says why it cannot ask", async () => {
  const one = door();
  expect(await one.take(order({ prompt: "refuse me" }))).toMatchObject({
    ok: true,
    answer: { status: 400, error: { message: "no such role" }, text: "" },
  });
  expect(await one.take(order({ route: "nowhere" }))).toMatchObject({ ok: false, code: "NO_ROUTE" });
  expect(await one.take({ id: "x" })).toMatchObject({ ok: false, code: "BAD_REQUEST" });
});

it("is cancelled, ends at its deadline, and takes only so many at a time", async () => {
  on.engine.script = () => ({ tokens: [], hang: true });
  const one = door();
  const [first, second] = [order(), order({ deadline_ms: 300 })];
  const asked = [one.take(first), one.take(second)];
  expect(await one.take(order())).toMatchObject({ ok: false, code: "BUSY" });
  one.cancel({ id: first.id });
  one.cancel(null);
  expect(await asked[0]).toMatchObject({ ok: false, code: "CANCELLED" });
  expect(await asked[1]).toMatchObject({ ok: false, code: "TIMEOUT" });
  await expect.poll(() => on.gateway.serving.report().running).toBe(0);
});

it("opens to nobody who does not know the key of this process", () => {
  expect(key.tenantOf(`Bearer ${key.secret}`)?.id).toBe("playground");
  for (const other of [undefined, "Bearer playground", `Bearer ${new PlaygroundKey().secret}`])
    expect(key.tenantOf(other)).toBeNull();
});
