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

it("never goes back, whatever order control planes hear of each other in", () => {
  const sent: CalibrationUpdate[] = [];
  const throttle = new UpdateThrottle(100, (one) => sent.push(one));
  throttle.push(update("a", 20));
  throttle.push(update("a", 10));
  throttle.push({ ...update("a", 20), state: "SUCCEEDED", lines: [] });
  throttle.push(update("a", 20));
  vi.advanceTimersByTime(300);
  throttle.push(update("a", 15));
  vi.advanceTimersByTime(300);
  expect(sent.map((one) => [one.last_seq, one.state])).toEqual([
    [20, "RUNNING"],
    [20, "SUCCEEDED"],
  ]);
  throttle.close();
});

it("says from where the page has to read when lines are too many to send", () => {
  const sent: CalibrationUpdate[] = [];
  const throttle = new UpdateThrottle(100, (one) => sent.push(one));
  throttle.push({ ...update("a", 1), after_seq: 0 });
  for (let seq = 2; seq <= 301; seq += 1) throttle.push({ ...update("a", seq), after_seq: seq - 1 });
  vi.advanceTimersByTime(150);
  expect(sent.at(-1)?.lines).toHaveLength(200);
  expect(sent.at(-1)?.after_seq).toBe(101);
  for (let seq = 302; seq <= 303; seq += 1) throttle.push({ ...update("a", seq), after_seq: seq - 1 });
  vi.advanceTimersByTime(150);
  expect(sent.at(-1)).toMatchObject({ after_seq: 301, last_seq: 303 });
});

it("forgets runs that are silent", () => {
  const throttle = new UpdateThrottle(100, () => {});
  for (let run = 0; run < 50; run += 1) throttle.push(update(`run-${run}`, 1));
  expect(throttle.size).toBe(50);
  vi.advanceTimersByTime(61_000);
  expect(throttle.size).toBe(0);
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
