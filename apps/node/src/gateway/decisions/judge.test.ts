import type { ServedJudge } from "@helm/contracts";
import { describe, expect, it } from "vitest";
import { GatewayFixture, chat as plainChat } from "../../testing/gateway-fixture";
import { type Script, words } from "../../testing/scripted-engine";

const on = new GatewayFixture();
/** What is escalated here is answered natively: the judge alone is looked at. */
const chat = (extra: object = {}) => plainChat({ helm: { transfer: "off" }, ...extra });

/** The less the likeliest token leads, the likelier the target says something else. */
const table: ServedJudge = {
  version: "logistic-1",
  streaming: "buffer",
  window: null,
  label: "target_differs",
  features: [{ name: "min_margin", mean: 1, scale: 1, weight: -3 }],
  bias: 0,
  knots: [
    { score: -3, probability: 0.1 },
    { score: 3, probability: 0.9 },
  ],
  sha256: "f".repeat(64),
  threshold: 0.6,
};

function judgedBy(over: Partial<ServedJudge> = {}): void {
  const { route } = on.gateway.dials;
  route.streaming = "buffer";
  route.judge = { ...route.judge, table: { ...table, ...over } };
}

/** A pilot that leads by so much at each token; the target says one thing. */
function leading(...leads: number[]): void {
  const tokens = leads.map((lead, at) => ({ text: `w${at} `, logprob: -0.5, rival: -0.5 - lead }));
  on.engine.script = (body) =>
    body.model === "pilot" ? { tokens } : ({ tokens: words("from the target") } as Script);
}

describe("a route with a judge's table", () => {
  it("escalates from its threshold on, and says by which judge and how probable it was", async () => {
    judgedBy();
    leading(2, 0.1, 4);
    const hard = await on.ask(chat());
    expect(hard.body.helm).toMatchObject({
      decision: "escalated",
      reason: "JUDGED_HARD",
      judge: { version: "logistic-1", threshold: 0.6, escalate: true },
    });
    expect(hard.body.helm.judge.score).toBeGreaterThan(0.6);
    leading(2, 3, 4);
    const easy = await on.ask(chat());
    expect(easy.body.helm).toMatchObject({ decision: "kept", reason: "CONFIDENT" });
    expect(easy.body.helm.judge.score).toBeLessThan(0.6);
    const metrics = await on.gateway.resources.metrics.registry.metrics();
    expect(metrics).toMatch(/^helm_judge_score_count 2$/m);
    expect(metrics).toMatch(/^helm_judge_score_bucket\{le="0.6"\} 1$/m);
  });

  it("asks the pilot for the two likeliest tokens, and shows the caller as many as it asked for", async () => {
    judgedBy();
    leading(4, 4);
    const silent = await on.ask(chat());
    expect(on.engine.legs[0]?.body).toMatchObject({ logprobs: true, top_logprobs: 2 });
    expect(silent.body.choices[0].logprobs).toBeNull();
    const one = await on.ask(chat({ logprobs: true, top_logprobs: 1 }));
    expect(
      one.body.choices[0].logprobs.content.map((entry: { top_logprobs: [] }) => entry.top_logprobs.length),
    ).toEqual([1, 1]);
    const none = await on.ask(chat({ logprobs: true }));
    expect(none.body.choices[0].logprobs.content[0].top_logprobs).toEqual([]);
    const text = await on.ask({ prompt: "one two", logprobs: 1 }, "/v1/completions");
    expect(on.engine.legs.at(-1)?.body).toMatchObject({ logprobs: 2 });
    expect(text.body.choices[0].logprobs.top_logprobs[0]).toEqual({ "w0 ": -0.5 });
  });

  it("asks for nothing more where the table does not read it", async () => {
    judgedBy({ features: [{ name: "mean_logprob", mean: -1, scale: 1, weight: -1 }] });
    await on.ask(chat());
    expect(on.engine.legs[0]?.body.top_logprobs).toBeUndefined();
  });

  it("has no evidence where the engine names no second token: the target answers, and it is counted", async () => {
    judgedBy();
    on.engine.script = (body) =>
      body.model === "pilot" ? { tokens: words("sure as ever") } : { tokens: words("from the target") };
    const answer = await on.ask(chat());
    expect(answer.body.helm).toMatchObject({ decision: "escalated", reason: "NO_EVIDENCE", judge: null });
    expect(answer.body.choices[0].message.content).toBe("from the target");
  });

  it("judges by the route's bounds what the table was not calibrated for", async () => {
    judgedBy();
    leading(0, 0);
    on.gateway.dials.tenant = { ...on.gateway.dials.tenant, streaming: "window", window: 2 };
    expect((await on.ask(chat())).body.helm).toMatchObject({
      decision: "kept",
      judge: { version: "logprob-1", score: null },
    });
  });

  it("lets the least sure of several answers decide", async () => {
    judgedBy();
    leading(4, 0.1);
    expect((await on.ask(chat({ n: 2 }))).body.helm.decision).toBe("escalated");
  });
});

it("calls an answer hard that breaks the JSON the caller asked for", async () => {
  on.gateway.dials.route.streaming = "buffer";
  on.engine.script = (body) =>
    body.model === "pilot" ? { tokens: words("no json at all") } : { tokens: words("{}") };
  const body = chat({ response_format: { type: "json_object" } });
  expect((await on.ask(body)).body.helm).toMatchObject({ decision: "escalated", reason: "FORMAT_BROKEN" });
  expect((await on.ask(chat())).body.helm.decision).toBe("kept");
});
