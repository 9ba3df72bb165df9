import { expect, it } from "vitest";
import { effectiveSettings, effectiveThresholds } from "./effective";

const route = {
  streaming: "window" as const,
  window: 32,
  judge: { version: "logprob-v0", mean_logprob: -0.1, min_logprob: -1 },
};

it("takes the tenant's word where it has one, zero and false included, else the route's, and says whose it is", () => {
  const settings = effectiveSettings(route, { streaming: "buffer", mean_logprob: 0, transfer_off: false });
  expect(settings).toEqual({
    streaming: { value: "buffer", from: "tenant" },
    window: { value: 32, from: "route" },
    meanLogprob: { value: 0, from: "tenant" },
    minLogprob: { value: -1, from: "route" },
    transfer: { value: "on", from: "route" },
  });
  expect(effectiveThresholds(settings)).toEqual({ mean_logprob: 0, min_logprob: -1 });
  expect(effectiveSettings(route, { transfer_off: true }).transfer).toEqual({ value: "off", from: "tenant" });
});
