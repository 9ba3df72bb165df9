import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Feed, type FeedUpdate, type LogLine, mergeFeed, mergeLines, mergeRow } from "./feed";

const line = (seq: number): LogLine => ({
  seq,
  at: "2026-01-01T00:00:00Z",
  level: "info",
  message: `line ${seq}`,
});
const update = (over: Partial<FeedUpdate>): FeedUpdate => ({
  attempt: 1,
  last_seq: 1,
  state: "RUNNING",
  stage: "fit",
  percent: 10,
  rate: null,
  unit: null,
  lines: [],
  ...over,
});
const merged = (...updates: FeedUpdate[]): Feed => updates.reduce<Feed | null>(mergeFeed, null) as Feed;

describe("lines", () => {
  it("come out once and in order whatever the order of arrival", () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.integer({ min: 1, max: 40 }))), (batches) => {
        const got = batches.reduce<LogLine[]>((known, batch) => mergeLines(known, batch.map(line)), []);
        const want = [...new Set(batches.flat())].sort((a, b) => a - b);
        expect(got.map(({ seq }) => seq)).toEqual(want);
      }),
    );
  });
});

describe("a run's feed", () => {
  it("keeps a final state when an older update arrives late", () => {
    const feed = merged(
      update({ state: "SUCCEEDED", last_seq: 9, percent: 100 }),
      update({ last_seq: 7, percent: 80 }),
    );
    expect(feed).toMatchObject({ state: "SUCCEEDED", percent: 100, lastSeq: 9 });
  });

  it("keeps a final state even against a higher number of the same attempt", () => {
    expect(merged(update({ state: "CANCELLED", last_seq: 5 }), update({ last_seq: 6 })).state).toBe(
      "CANCELLED",
    );
  });

  it("takes a final state even when its number is not the newest", () => {
    expect(merged(update({ last_seq: 8 }), update({ state: "FAILED", last_seq: 5 })).state).toBe("FAILED");
  });

  it("lets a LOST run come back", () => {
    expect(merged(update({ state: "LOST", last_seq: 4 }), update({ last_seq: 5 })).state).toBe("RUNNING");
  });

  it("never lets the percent fall within an attempt", () => {
    expect(merged(update({ percent: 40, last_seq: 3 }), update({ percent: 35, last_seq: 4 })).percent).toBe(
      40,
    );
  });

  it("starts over with a newer attempt and drops an older one", () => {
    const feed = merged(
      update({ state: "FAILED", last_seq: 30, percent: 60, lines: [line(30)] }),
      update({ attempt: 2, last_seq: 1, percent: 2, lines: [line(1)] }),
      update({ attempt: 1, last_seq: 31, percent: 61, lines: [line(31)] }),
    );
    expect(feed).toMatchObject({ attempt: 2, state: "RUNNING", percent: 2, lastSeq: 1, lines: [{ seq: 1 }] });
  });

  it("fills a gap when the backlog comes after the socket", () => {
    const feed = merged(
      update({ last_seq: 5, lines: [line(5)] }),
      update({ last_seq: 5, lines: [line(3), line(4), line(5)] }),
    );
    expect(feed.lines.map(({ seq }) => seq)).toEqual([3, 4, 5]);
  });

  it("shows a retry as QUEUED, and no stale answer as RUNNING, once it was final", () => {
    const failed = merged(update({ state: "FAILED", last_seq: 30, percent: 60, lines: [line(30)] }));
    expect(mergeRow(failed, update({ state: "RUNNING", last_seq: 30 })).state).toBe("FAILED");
    expect(mergeRow(failed, update({ state: "QUEUED", last_seq: 30, percent: 0 }))).toMatchObject({
      state: "QUEUED",
      percent: 0,
      lines: [{ seq: 30 }],
    });
  });
});
