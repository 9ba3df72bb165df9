import type { PointCounts, SequenceCounts } from "@helm/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byPrefix, scoreOf } from "./arm-score";
import { many, sequence } from "./fixtures";
import { longLeftOut, longRows } from "./long-rows";

function point(prefix: number, agree: [number, number, number]): PointCounts {
  const [first, early, late] = agree;
  return {
    prefix,
    first: { agree: first, total: 1 },
    early: { agree: early, total: 15 },
    late: { agree: late, total: 48 },
  };
}

function withPoints(id: number, points: PointCounts[]): SequenceCounts {
  const add = (bucket: "first" | "early" | "late") => ({
    agree: points.reduce((sum, p) => sum + p[bucket].agree, 0),
    total: points.reduce((sum, p) => sum + p[bucket].total, 0),
  });
  const prefixes = points.map((p) => p.prefix);
  return sequence(id, 0, { points, prefixes, first: add("first"), early: add("early"), late: add("late") });
}

describe("retention by the length of the prefix", () => {
  it("pools hand-over points by power of two, in order, whichever sequence they are of", () => {
    const rows = [
      withPoints(0, [point(64, [1, 15, 48]), point(127, [0, 15, 24]), point(128, [0, 0, 0])]),
      withPoints(1, [point(1024, [1, 0, 48]), point(100, [1, 15, 48])]),
    ];
    const found = byPrefix(rows);
    expect(Object.keys(found ?? {})).toEqual(["64-127", "128-255", "1024-2047"]);
    expect(found?.["64-127"]).toMatchObject({
      n: 2,
      buckets: { first: 2 / 3, early: 1, late: 120 / 144 },
      retention: (2 / 3 + 1 + 120 / 144) / 3,
    });
    expect(found?.["128-255"]).toMatchObject({ n: 1, retention: 0 });
  });
  it("is the whole where all points are of one length, with the same interval", () => {
    const agree = fc.tuple(fc.nat(1), fc.nat(15), fc.nat(48));
    const runs = fc.array(fc.array(agree, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(runs, (given) => {
        const rows = given.map((points, i) =>
          withPoints(
            i,
            points.map((counts, p) => point(256 + p, counts)),
          ),
        );
        expect(byPrefix(rows)).toEqual({ "256-511": scoreOf(rows) });
      }),
      { numRuns: 20 },
    );
  });
  it("is not there for runs that kept no points", () => {
    expect(byPrefix(many(20, 1))).toBeNull();
  });
});

describe("rows beyond the fitted length", () => {
  const long = (multiple: 4 | 32, share: number) => many(16, share, { split: "long", multiple });
  it("stand by multiple and arm, each of its own sequences", () => {
    const rows = longRows({
      mapper: [...long(32, 0), ...long(4, 1), ...many(100, 0.5)],
      identity: long(4, 1),
      zero_cache: [...long(4, 0), ...long(32, 0)],
    });
    expect(rows.map((row) => row.multiple)).toEqual([4, 32]);
    expect(rows[0]?.arms).toMatchObject({
      mapper: { retention: 1, n: 16 },
      identity: { retention: 1 },
      zero_cache: { retention: 0 },
    });
    expect(rows[1]?.arms).toMatchObject({ mapper: { retention: 0 }, identity: null });
  });
  it("are none where the mapper was not scored there", () => {
    expect(longRows({ mapper: many(100, 1), identity: long(4, 1) })).toEqual([]);
  });
  it("say why they are not there, where the manifest does", () => {
    const manifest = {
      long: [
        { multiple: 4, sequences: 16, left_out: null },
        { multiple: 32, sequences: 0, left_out: "the texts are too short" },
        { multiple: 7, left_out: "odd" },
      ],
    };
    expect(longLeftOut(manifest)).toEqual([{ multiple: 32, left_out: "the texts are too short" }]);
    expect(longRows({ mapper: long(4, 1) }, longLeftOut(manifest))).toMatchObject([
      { multiple: 4, arms: { mapper: { retention: 1 } } },
      { multiple: 32, left_out: "the texts are too short", arms: {} },
    ]);
    for (const none of [null, {}, { long: "none" }]) expect(longLeftOut(none)).toEqual([]);
  });
});
