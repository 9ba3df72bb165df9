import { expect, it } from "vitest";
import { chat, GatewayFixture } from "../../testing/gateway-fixture";

const on = new GatewayFixture();

it.each([
  ["pilot", "/v1/chat/completions", chat({ model: "pilot" })],
  ["helm-auto", "/v1/chat/completions", chat()],
  ["target", "/v1/completions", { model: "target", prompt: ["a", "b"] }],
])(
  "refuses more answers than %s decodes side by side before it waits for room: %s",
  async (_, path, body) => {
    on.engine.maxBatch = 4;
    await on.restart({});
    on.engine.calls.length = 0;
    const refused = await on.ask({ ...body, n: 5 }, path);
    expect([refused.status, refused.body.error.param]).toEqual([400, "n"]);
    expect(refused.body.error.message).toContain("at most 4");
    expect(on.engine.legs).toEqual([]);
    expect((await on.ask({ ...body, n: 4 }, path)).status).toBe(200);
    on.engine.maxBatch = null;
  },
);
