import type { SnapshotPair } from "@helm/contracts";
import { describe, expect, it } from "vitest";
import { EngineClient } from "../engine/engine-client";
import type { ServingEngine } from "../engine/serving-engine";
import { ScriptedEngine, words } from "../testing/scripted-engine";
import { leastPayingLength, runTransferCanary } from "./canary";
import { fittingLengths, refusePair } from "./pair-room";

const pair: SnapshotPair = {
  id: "p",
  pilot: "pilot",
  target: "target",
  mapper_sha256: "a".repeat(64),
  mapper_bytes: 1,
  refusal: null,
  development: true,
  pilot_weights_sha256: "w1",
  target_weights_sha256: "w2",
};

function engineWith(weights: Record<string, string | null>): ServingEngine {
  const models = Object.entries(weights).map(([id, weights_sha256]) => [id, { id, weights_sha256 }] as const);
  return { models: new Map(models) } as unknown as ServingEngine;
}

const here = { nodeId: "n1", development: true };
const production = { nodeId: "n2", development: false };

describe("whether a pair may be used on this node", () => {
  const good = engineWith({ pilot: "w1", target: "w2" });

  it("is the snapshot's to refuse first", () => {
    expect(refusePair({ ...pair, refusal: "NOT_ABOVE_PILOT" }, good, here)).toBe("NOT_ABOVE_PILOT");
  });

  it("asks for a mapper, and keeps a CPU's mapper to development nodes", () => {
    expect(refusePair({ ...pair, mapper_sha256: null }, good, here)).toBe("NOT_CALIBRATED");
    expect(refusePair(pair, good, production)).toBe("NOT_PLACED");
    expect(refusePair(pair, good, here)).toBeNull();
    expect(refusePair({ ...pair, development: false }, good, production)).toBeNull();
  });

  it("is told by the pair's placement, and a CPU's mapper is not taken by a production node that is named", () => {
    expect(refusePair({ ...pair, nodes: ["n2"] }, good, here)).toBe("NOT_PLACED");
    expect(refusePair({ ...pair, nodes: [] }, good, here)).toBe("NOT_PLACED");
    expect(refusePair({ ...pair, nodes: ["n1", "n2"] }, good, here)).toBeNull();
    expect(refusePair({ ...pair, nodes: ["n2"] }, good, production)).toBe("NOT_PLACED");
    expect(refusePair({ ...pair, nodes: ["n2"], development: false }, good, production)).toBeNull();
  });

  it("asks for the very weights the mapper was made for", () => {
    expect(refusePair(pair, engineWith({ pilot: "w1" }), here)).toBe("PAIR_MISMATCH");
    expect(refusePair(pair, engineWith({ pilot: "w1", target: "other" }), here)).toBe("PAIR_MISMATCH");
    expect(refusePair(pair, engineWith({ pilot: null, target: "w2" }), here)).toBeNull();
  });
});

describe("the canary", () => {
  it("asks for no prompt that the models have no context for", () => {
    const engine = {
      models: new Map([
        ["pilot", { max_model_len: 2048 }],
        ["target", { max_model_len: 8192 }],
      ]),
    } as unknown as ServingEngine;
    expect(fittingLengths(pair, engine, [64, 1024, 4096])).toEqual([64, 1024]);
    expect(fittingLengths(pair, engine, [4096])).toEqual([4096]);
  });

  it("refuses a pair that nothing goes across for, not one whose longest prompts are too much", async () => {
    const scripted = await ScriptedEngine.start();
    const client = new EngineClient({ origin: scripted.origin });
    const reportFor = (body: { prompt?: unknown; kv_transfer_params?: unknown }, most: number) => {
      const kv = body.kv_transfer_params as { do_stage?: boolean } | undefined;
      if (!kv?.do_stage) return { result: "transferred" };
      return (body.prompt as number[]).length > most
        ? { result: "fallback", reason: "NO_MEMORY" }
        : { result: "staged" };
    };
    const run = (most: number) => {
      scripted.script = (body) => ({ tokens: words("x"), report: reportFor(body, most) });
      const ask = { pilot: "pilot", target: "target", mapper: "a".repeat(64), lengths: [4, 8, 16] };
      return runTransferCanary(client, { ...ask, budgetMs: 60_000 }, new AbortController().signal);
    };
    try {
      expect(await run(2)).toEqual({ ok: false, reason: "NO_MEMORY" });
      expect(await run(4)).toMatchObject({
        ok: true,
        minTokens: null,
        points: [{ tokens: 4 }, { tokens: 8 }],
      });
      const never = { status: 413, body: { error: { message: "too large", code: "never_fits" } } };
      const refuse = (body: { prompt?: unknown }) => (body.prompt as number[]).length > 4 && never;
      scripted.script = (body) => ({
        tokens: words("x"),
        report: reportFor(body, 99),
        refuse: refuse(body) || undefined,
      });
      const ask = { pilot: "pilot", target: "target", mapper: "a".repeat(64), lengths: [4, 8] };
      const found = await runTransferCanary(
        client,
        { ...ask, budgetMs: 60_000 },
        new AbortController().signal,
      );
      expect(found).toMatchObject({ ok: true, points: [{ tokens: 4 }] });
    } finally {
      await client.close();
      await scripted.stop();
    }
  });
});

describe("from where on a transfer pays", () => {
  const point = (tokens: number, native_ms: number, transfer_ms: number) => ({
    tokens,
    native_ms,
    transfer_ms,
  });

  it("is the shortest length from which it is faster at every longer one too", () => {
    expect(
      leastPayingLength([point(64, 5, 3), point(256, 9, 12), point(1024, 40, 20), point(4096, 200, 60)]),
    ).toBe(1024);
    expect(leastPayingLength([point(64, 5, 3), point(256, 9, 4)])).toBe(64);
  });

  it("is nowhere where it is not faster at the longest", () => {
    expect(leastPayingLength([point(64, 5, 3), point(256, 9, 9)])).toBeNull();
    expect(leastPayingLength([])).toBeNull();
  });
});
