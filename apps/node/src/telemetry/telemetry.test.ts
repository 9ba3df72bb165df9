import { afterEach, beforeEach, expect, it } from "vitest";
import { chat, GatewayFixture } from "../testing/gateway-fixture";
import { OtlpReceiver } from "../testing/otlp-receiver";
import { startTelemetry, type Telemetry } from "./telemetry";

const on = new GatewayFixture();
let receiver: OtlpReceiver;
let telemetry: Telemetry;

beforeEach(async () => {
  receiver = await OtlpReceiver.start();
  telemetry = await startTelemetry({
    tracesUrl: receiver.tracesUrl,
    serviceName: "helm-node",
    nodeId: "n1",
    version: "0.1.0",
  });
  await on.restart({ watch: (trace, parent) => telemetry.record(trace, parent) });
});
afterEach(() => receiver.stop());

/** Everything that was recorded so far has arrived. */
async function spans() {
  await telemetry.stop();
  return receiver.spans;
}

const SECRET = "one two three";

it("tells an escalated request as request, legs, staging, judge and transfer, under the id of its answer", async () => {
  on.unsure();
  const answer = await on.ask(chat());
  const found = await spans();
  const request = found.find(({ parentSpanId }) => parentSpanId === null);
  expect(request).toMatchObject({
    name: "chat helm-auto",
    traceId: answer.headers.get("x-helm-trace-id"),
    kind: 2,
    failed: false,
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "helm",
      "gen_ai.request.model": "helm-auto",
      "gen_ai.response.model": "target",
      "gen_ai.usage.input_tokens": 3,
      "gen_ai.usage.output_tokens": 3,
      "http.response.status_code": 200,
      "helm.decision": "escalated",
      "helm.transfer": "transferred",
      "helm.tenant.id": "t1",
    },
  });
  const children = found.filter((span) => span !== request);
  expect(children.map(({ name }) => name).sort()).toEqual([
    "chat pilot",
    "chat target",
    "helm.judge",
    "helm.stage pilot",
    "helm.transfer",
  ]);
  for (const span of children) {
    expect(span.parentSpanId).toBe(request?.spanId);
    expect(span.endMs).toBeGreaterThanOrEqual(span.startMs);
    expect(span.startMs).toBeGreaterThanOrEqual(request?.startMs ?? Number.POSITIVE_INFINITY);
  }
  expect(children.find(({ name }) => name === "helm.transfer")?.attributes).toMatchObject({
    "helm.transfer.tokens_moved": 90,
    "helm.transfer.tail_tokens": 5,
    "helm.transfer.map_ms": 1,
  });
  expect(children.find(({ name }) => name === "helm.judge")?.attributes).toMatchObject({
    "helm.judge.escalate": true,
  });
  expect(receiver.resource).toMatchObject({ "service.name": "helm-node", "service.instance.id": "n1" });
});

it("goes on with its caller's trace, and marks what failed", async () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
  on.unsure({ transfer: { refuse: { status: 500, body: {} } } });
  await on.ask(chat(), undefined, { traceparent });
  await on.ask(chat({ n: 0 }), undefined, { traceparent: "00-nonsense" });
  const found = await spans();
  const own = found.filter((span) => span.traceId === traceId);
  expect(own.find(({ kind }) => kind === 2)).toMatchObject({
    parentSpanId: "b7ad6b7169203331",
    failed: false,
  });
  expect(own.find(({ name }) => name === "helm.transfer")).toMatchObject({
    failed: true,
    attributes: { "error.type": "ENGINE_ERROR" },
  });
  expect(found.filter((span) => span.traceId !== traceId)).toMatchObject([
    { failed: true, attributes: { "error.type": "invalid_value", "http.response.status_code": 400 } },
  ]);
});

it("holds no word of prompt or answer, also of a tenant whose traces keep them", async () => {
  on.gateway.dials.tenant = {
    ...on.gateway.dials.tenant,
    trace_text_until: new Date(Date.now() + 60_000).toISOString(),
  };
  on.unsure();
  await on.ask(chat());
  await on.ask(chat({ model: "pilot" }));
  expect((await spans()).length).toBeGreaterThan(6);
  for (const word of [SECRET, "from the target", "not so sure"]) expect(receiver.text).not.toContain(word);
});
