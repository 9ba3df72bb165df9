import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { StandaloneNode } from "../scripts/lib/standalone-node.mjs";
import { heldNow } from "./held.mjs";
import { countBy, finishReasons, Load, mixOf } from "./load.mjs";
import { kill9, naming, stillAlive, treeOf } from "./processes.mjs";

const REQUESTS = 100;
const PATIENCE = { timeout: 90_000, interval: 250 };

describe("100 running requests on one node", () => {
  const folder = mkdtempSync(join(tmpdir(), "helm-serving-"));
  const node = new StandaloneNode(folder);
  const engineOf = () => treeOf(node.child.pid).filter((one) => one.command.includes("lifeboat_kv.engine"));
  let load;
  let before;

  const question = () => load.run(mixOf(4));
  const words = (outcomes) => outcomes.map(({ body, text }) => (body.stream ? "" : contentOf(text)));

  beforeAll(async () => {
    await node.start();
    load = new Load(node.url, node.key);
    before = words(await question());
  }, 240_000);
  beforeEach(() => {
    load.begun = 0;
  });
  afterAll(async () => {
    await load?.close();
    await node.stop();
    kill9(naming(folder));
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  /** Nothing is held for anybody, and the same questions have the same answers. */
  async function asBefore() {
    await expect.poll(() => node.health(), PATIENCE).toBe(true);
    await expect.poll(() => heldNow(node), PATIENCE).toEqual({});
    const after = await question();
    expect(countBy(after)).toEqual({ answered: 4 });
    expect(words(after)).toEqual(before);
    await expect.poll(() => heldNow(node), PATIENCE).toEqual({});
  }

  it("all are answered where nothing is killed", { timeout: 180_000 }, async () => {
    expect(countBy(await load.run(mixOf(REQUESTS)))).toEqual({ answered: REQUESTS });
    await asBefore();
  });

  it("kill -9 of the engine: an answer or a typed error each, none hangs, nothing stays held", {
    timeout: 300_000,
  }, async () => {
    const running = load.run(mixOf(REQUESTS));
    await expect.poll(() => load.underWay, PATIENCE).toBeGreaterThan(5);
    const engine = engineOf();
    expect(engine).toHaveLength(1);
    kill9(engine);
    const outcomes = await running;
    const counts = countBy(outcomes);
    expect(Object.keys(counts).filter((what) => what !== "answered" && what !== "typed")).toEqual([]);
    expect(counts.typed).toBeGreaterThan(5);
    // A stream that broke says so as its last word and never looks finished.
    for (const { text } of outcomes.filter(
      ({ what, body, status }) => what === "typed" && body.stream && status === 200,
    )) {
      expect(text).not.toContain("[DONE]");
      expect(finishReasons(text)).toBe(0);
    }
    await asBefore();
  });

  it("kill -9 of the node: its clients see it at once, no cut stream looks finished, and a retry is served", {
    timeout: 300_000,
  }, async () => {
    const running = load.run(mixOf(REQUESTS));
    await expect.poll(() => load.underWay, PATIENCE).toBeGreaterThan(5);
    const engine = engineOf();
    kill9([{ pid: node.child.pid }]);
    const outcomes = await running;
    const counts = countBy(outcomes);
    expect(Object.keys(counts).filter((what) => what !== "answered" && what !== "cut")).toEqual([]);
    expect(counts.cut).toBeGreaterThan(5);
    const cut = outcomes.filter(({ what }) => what === "cut");
    expect(cut.some(({ body, text }) => body.stream && text.length > 0)).toBe(true);
    for (const { text } of cut) {
      expect(text).not.toContain("[DONE]");
      expect(finishReasons(text)).toBe(0);
    }
    await node.child.gone;
    // The engine finds out by itself that its node is gone.
    await expect.poll(() => stillAlive(engine).length, PATIENCE).toBe(0);
    await node.start();
    const again = await load.run(cut.map(({ body }) => body));
    expect(countBy(again)).toEqual({ answered: cut.length });
    await asBefore();
  });
});

function contentOf(text) {
  return JSON.parse(text).choices[0].message.content;
}
