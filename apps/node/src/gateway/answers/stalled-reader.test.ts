import { describe, expect, it } from "vitest";
import { chat, GatewayFixture } from "../../testing/gateway-fixture";
import { RawClient } from "../../testing/raw-client";

const on = new GatewayFixture();

/** More than the sockets between take, and never at its end: a double, as the bundled models say too little to fill them. */
const flood = () => ({
  tokens: Array.from({ length: 4_000 }, () => ({ text: "x".repeat(65_536), logprob: -0.1 })),
  pause: 5,
});

describe("a client that does not read its answer", () => {
  it.each(["pilot", "helm-auto"])(
    "is given up when it asked for %s, and its engine call with it",
    async (model) => {
      await on.restart({ limits: { stallMs: 200 } });
      on.engine.script = flood;
      const client = await RawClient.open(on.gateway.origin);
      const body = JSON.stringify(chat({ model, stream: true }));
      client.head(Buffer.byteLength(body));
      client.socket.pause();
      await client.send(body);
      await expect.poll(() => on.engine.legs.map((leg) => leg.aborted), { timeout: 15_000 }).toEqual([true]);
      await expect.poll(() => on.gateway.serving.report().running, { timeout: 15_000 }).toBe(0);
      const gates = [...(on.gateway.resources.engine()?.gates.values() ?? [])];
      expect(gates.map((gate) => gate.reserved)).toEqual([0, 0]);
      expect(on.gateway.bodyBytes()).toBe(0);
      client.leave();
    },
  );
});
