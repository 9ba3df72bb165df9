import type { SnapshotPair, SnapshotRoute } from "@helm/contracts";
import { expect, it } from "vitest";
import { snapshotOf } from "../testing/signing";
import { pairsToReady } from "./way-down";

const pair = (id: string, pilot: string, target: string, over: Partial<SnapshotPair> = {}): SnapshotPair => ({
  id,
  pilot,
  target,
  mapper_sha256: "a".repeat(64),
  mapper_bytes: 1,
  refusal: "NOT_ABOVE_PILOT",
  development: true,
  pilot_weights_sha256: null,
  target_weights_sha256: null,
  ...over,
});
const route = (pair_id: string): SnapshotRoute => ({
  name: `over-${pair_id}`,
  pair_id,
  judge: { version: "logprob-1", mean_logprob: -1, min_logprob: -4 },
  streaming: "window",
  window: 2,
  default_max_tokens: 32,
  hold_turns: null,
});

it("asks no gain of a pair that a route comes down by, and of every other one what the snapshot asks", () => {
  const pairs = [
    pair("up", "small", "large", { refusal: null }),
    pair("down", "large", "small"),
    pair("control", "small", "small"),
    pair("elsewhere", "large", "other"),
  ];
  const told = (routes: SnapshotRoute[], given = pairs) =>
    Object.fromEntries(
      pairsToReady(snapshotOf(1, { routes, pairs: given })).map((one) => [one.id, one.refusal]),
    );
  const refused = { control: "NOT_ABOVE_PILOT", elsewhere: "NOT_ABOVE_PILOT" };
  expect(told([])).toEqual({ up: null, down: "NOT_ABOVE_PILOT", ...refused });
  expect(told([route("up")])).toEqual({ up: null, down: null, ...refused });
  expect(told([route("control")])).toEqual({ up: null, down: "NOT_ABOVE_PILOT", ...refused });
  const retired = [pairs[0] as SnapshotPair, pair("down", "large", "small", { refusal: "NOT_CALIBRATED" })];
  expect(told([route("up")], retired)).toEqual({ up: null, down: "NOT_CALIBRATED" });
});
