import { expect, it } from "vitest";
import { effectiveJudge, effectiveSettings } from "./effective";
import { servedJudge } from "./testing";

const route = {
  streaming: "window" as const,
  window: 32,
  judge: { version: "logprob-1", mean_logprob: -0.1, min_logprob: -1 },
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
  expect(effectiveJudge(route, settings)).toEqual({ kind: "bounds", mean_logprob: 0, min_logprob: -1 });
  expect(effectiveSettings(route, { transfer_off: true }).transfer).toEqual({ value: "off", from: "tenant" });
});

it("judges by the route's table only what the table was calibrated for, and by a tenant's own bounds before it", () => {
  const table = servedJudge({ streaming: "window", window: 32 });
  const judged = { ...route, judge: { ...route.judge, table } };
  const kindFor = (tenant: Parameters<typeof effectiveSettings>[1]) =>
    effectiveJudge(judged, effectiveSettings(judged, tenant)).kind;
  expect(kindFor({})).toBe("table");
  expect(kindFor({ transfer_off: true })).toBe("table");
  expect(kindFor({ window: 16 })).toBe("bounds");
  expect(kindFor({ streaming: "buffer" })).toBe("bounds");
  expect(kindFor({ min_logprob: -2 })).toBe("bounds");
  const whole = servedJudge({ streaming: "buffer", window: null });
  const buffered = { ...route, streaming: "buffer" as const, judge: { ...route.judge, table: whole } };
  expect(effectiveJudge(buffered, effectiveSettings(buffered, { window: 5 })).kind).toBe("table");
});
