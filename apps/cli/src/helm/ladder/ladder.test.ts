import { Ladder } from "@helm/contracts";
import { describe, expect, it } from "vitest";
import { lifeboat } from "../../testing";
import { readOptions, rungsOf } from "./options";
import { quantiles } from "./quantiles";
import { type Behaviour, KEY, scriptedGateway } from "./testing";

async function climb(behave?: Behaviour, args: string[] = [], key = KEY) {
  const gateway = await scriptedGateway(behave);
  const ran = await lifeboat(["helm", "ladder", "--gateway", gateway, "--to", "8", "--json", ...args], {
    LIFEBOAT_API_KEY: key,
  });
  return { ...ran, last: ran.lines.at(-1) ?? {} };
}

/** Each of eight prompts twice. */
const GOLDEN = 16;

describe("a ladder", { timeout: 120_000 }, () => {
  it("climbs by doubling, counts correct answers, and says which targets were met", async () => {
    const { code, last } = await climb(undefined, ["--targets", "8=0.5,4=100000,64=1"]);
    expect(code).toBe(0);
    const ladder = Ladder.parse(last);
    expect(ladder.rungs.map(({ clients, requests, correct }) => [clients, requests, correct])).toEqual([
      [1, 32, 32],
      [2, 32, 32],
      [4, 32, 32],
      [8, 32, 32],
    ]);
    expect(ladder).toMatchObject({
      model: "small",
      served_by: "small",
      engine: "a test double",
      stopped: null,
    });
    expect(ladder.rungs[0]?.memory_bytes).toBe(1_000_000);
    expect(ladder.rungs.every(({ output_tokens }) => output_tokens > 32)).toBe(true);
  });

  it("stops at the first rung with an answer that is not the golden one", async () => {
    const { code, last } = await climb((n) => (n === GOLDEN + 32 + 1 + 5 ? "wrong" : "answer"));
    expect(code).toBe(0);
    const ladder = Ladder.parse(last);
    expect(ladder.stopped).toEqual({ clients: 2, rule: "CORRUPTED" });
    expect(ladder.rungs.at(-1)).toMatchObject({ corrupted: 1, correct: 31 });
  });

  it.each([
    ["cut", /end mark/],
    ["plain", /status 500/],
  ] as const)("stops where an answer is %s: an error that nobody typed", async (how, message) => {
    const ladder = Ladder.parse((await climb((n) => (n === GOLDEN + 3 ? how : "answer"))).last);
    expect(ladder.stopped).toEqual({ clients: 1, rule: "UNTYPED_ERROR" });
    expect(ladder.rungs[0]).toMatchObject({ failed: 1, correct: 31 });
    expect(ladder.rungs[0]?.broke[0]?.message).toMatch(message);
  });

  it("goes on past refusals that say their bytes, and never counts them as answers", async () => {
    const full = (n: number) => [5, 6].includes((n - GOLDEN) % 33);
    const ladder = Ladder.parse((await climb((n) => (full(n) ? "refuse" : "answer"))).last);
    expect(ladder.stopped).toBeNull();
    expect(ladder.rungs).toHaveLength(4);
    for (const rung of ladder.rungs)
      expect(rung).toMatchObject({ refused: 2, correct: 30, shortfall_bytes: 4096 });
  });

  it("stops where the request alone afterwards fails, and where memory exceeds its bound", async () => {
    const canary = Ladder.parse((await climb((n) => (n === GOLDEN + 32 ? "wrong" : "answer"))).last);
    expect(canary.stopped).toEqual({ clients: 1, rule: "CANARY_FAILED" });
    const memory = Ladder.parse((await climb(undefined, ["--max-memory", "0.5MiB"])).last);
    expect(memory.stopped).toEqual({ clients: 1, rule: "MEMORY_OVER_BUDGET" });
  });

  it("refuses what it could not check or reach, in one line", async () => {
    expect(await climb((n) => (n === 1 ? "wrong" : "answer"))).toMatchObject({
      code: 1,
      last: { code: "GOLDEN_UNSTABLE" },
    });
    expect(await climb((n) => (n === 0 ? "refuse" : "answer"))).toMatchObject({
      code: 1,
      last: { code: "GOLDEN_REFUSED" },
    });
    expect(await climb(undefined, [], "hlm_other")).toMatchObject({ code: 1, last: { code: "KEY_REFUSED" } });
    expect(await climb(undefined, ["--model", "none"])).toMatchObject({
      code: 5,
      last: { code: "MODEL_UNKNOWN", message: expect.stringContaining("small, large, helm-auto") },
    });
    expect(await climb(undefined, ["--prompts", "/no/such/file"])).toMatchObject({
      code: 5,
      last: { code: "PROMPTS_UNREADABLE" },
    });
    const away = await lifeboat(["helm", "ladder", "--gateway", "http://127.0.0.1:9", "--json"], {
      LIFEBOAT_API_KEY: KEY,
    });
    expect(away.lines.at(-1)).toMatchObject({ code: "GATEWAY_UNREACHABLE", exit_code: 5 });
    const keyless = await lifeboat(["helm", "ladder", "--json"]);
    expect(keyless.lines.at(-1)).toMatchObject({ code: "NO_API_KEY", exit_code: 2 });
  });
});

const given = {
  gateway: "http://127.0.0.1:8000",
  from: "1",
  to: "2048",
  maxTokens: "32",
  maxItlRatio: "1.2",
  timeout: "600",
};

it("ends on the rung that was asked for, also where doubling passes it", () => {
  expect(rungsOf({ from: 1, to: 8 })).toEqual([1, 2, 4, 8]);
  expect(rungsOf({ from: 3, to: 20 })).toEqual([3, 6, 12, 20]);
  expect(rungsOf({ from: 5, to: 5 })).toEqual([5]);
});

it.each([
  [{ from: "0" }, /--from 0/],
  [{ from: "9", to: "8" }, /lies below/],
  [{ to: "1e3" }, /--to 1e3/],
  [{ gateway: "ftp://x" }, /--gateway/],
  [{ targets: "64:20" }, /--targets/],
  [{ targets: "64=20,64=30" }, /twice/],
  [{ maxItlRatio: "0.5" }, /--max-itl-ratio/],
  [{ maxMemory: "2 pounds" }, /--max-memory/],
  [{ maxTokens: "" }, /--max-tokens/],
])("%o is wrong usage, said in one line", (wrong, message) => {
  expect(() => readOptions({ ...given, ...wrong })).toThrow(message);
  expect(() => readOptions({ ...given, ...wrong })).toThrow(expect.objectContaining({ exitCode: 2 }));
});

it("takes quantiles by nearest rank", () => {
  expect(quantiles([])).toBeNull();
  expect(quantiles([3, 1, 2])).toEqual({ p50: 2, p95: 3, p99: 3 });
  expect(quantiles(Array.from({ length: 100 }, (_, index) => index + 1))).toEqual({
    p50: 50,
    p95: 95,
    p99: 99,
  });
});
