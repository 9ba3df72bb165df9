import type { CalibrationUpdate } from "@helm/contracts";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { UpdateThrottle } from "./update-throttle";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function update(calibration: string, seq: number, attempt = 1): CalibrationUpdate {
  const lines = [{ seq, at: "2026-11-30T06:00:00.000Z", level: "info", message: `line ${seq}` }];
  return {
    calibration,
    attempt,
    last_seq: seq,
    state: "RUNNING",
    stage: "fit",
    percent: seq / 10,
    rate: null,
    unit: null,
    lines,
  };
}

it("sends at most ten updates a second for each run and every line in order", () => {
  const sent: CalibrationUpdate[] = [];
  const throttle = new UpdateThrottle(100, (one) => sent.push(one));
  for (let seq = 1; seq <= 100; seq += 1) {
    throttle.push(update("a", seq));
    if (seq % 10 === 0) throttle.push(update("b", seq));
    vi.advanceTimersByTime(10);
  }
  vi.advanceTimersByTime(200);
  const ofA = sent.filter((one) => one.calibration === "a");
  expect(ofA.length).toBeLessThanOrEqual(12);
  expect(ofA.flatMap((one) => one.lines.map((line) => line.seq))).toEqual(
    Array.from({ length: 100 }, (_, i) => i + 1),
  );
  expect(ofA.at(-1)?.last_seq).toBe(100);
  expect(sent.filter((one) => one.calibration === "b").at(-1)?.last_seq).toBe(100);
});

it("mixes no lines of two attempts", () => {
  const sent: CalibrationUpdate[] = [];
  const throttle = new UpdateThrottle(100, (one) => sent.push(one));
  throttle.push(update("a", 1));
  throttle.push(update("a", 2));
  throttle.push(update("a", 1, 2));
  vi.advanceTimersByTime(150);
  expect(sent.at(-1)).toMatchObject({ attempt: 2, lines: [{ seq: 1 }] });
});
