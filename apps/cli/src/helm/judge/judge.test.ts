import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { digestOfTable } from "@helm/cascade";
import { labelledAnswers } from "@helm/cascade/testing";
import { JudgeTable } from "@helm/contracts";
import { describe, expect, it } from "vitest";
import type { Server } from "../../server/client";
import { lifeboat, temporaryFolder } from "../../testing";
import { readJudgeChoice } from "./choice";
import { checkLine } from "./show";

const PAIR = ["--source-model", "pilot", "--target-model", "target"];

async function rowsFile(count = 600): Promise<string> {
  const file = join(await temporaryFolder(), "rows.jsonl");
  await writeFile(
    file,
    labelledAnswers(count, 3)
      .map((row) => JSON.stringify(row))
      .join("\n"),
  );
  return file;
}

describe("lifeboat helm judge", () => {
  it("fits a table on labelled answers and shows it again, with what a choice comes to", async () => {
    const out = join(await temporaryFolder(), "table.json");
    const rows = await rowsFile();
    const fitted = await lifeboat([
      "helm",
      "judge",
      "fit",
      ...PAIR,
      "--rows",
      rows,
      "--window",
      "8",
      "--out",
      out,
      "--json",
    ]);
    expect([fitted.code, fitted.stderr]).toEqual([0, ""]);
    const table = JudgeTable.parse(JSON.parse(await readFile(out, "utf8")));
    expect(table).toMatchObject({ streaming: "window", window: 8, label: "target_better", n: 600 });
    expect(table.weights.source).toMatch(/^[0-9a-f]{64}$/);
    expect(fitted.lines[0]).toMatchObject({ sha256: digestOfTable(table), origin: { kind: "file" } });
    const shown = await lifeboat(["helm", "judge", "show", out, "--escalation-rate", "0.2"]);
    expect(shown.code).toBe(0);
    expect(shown.stdout).toMatch(/area under ROC 0\.\d+/);
    expect(shown.stdout).toMatch(/20 % +0\.\d+ +0\.\d+ \[/);
    expect(shown.stdout).toMatch(/Escalates 20 % of requests.*answered no worse than by the target/s);
    const far = await lifeboat(["helm", "judge", "show", out, "--quality-floor", "0.9999"]);
    expect(far.code).toBe(1);
    expect(far.stderr).toMatch(/600 labelled requests: the most is/);
  });

  it("says what is missing or unreadable, and where", async () => {
    const folder = await temporaryFolder();
    const said = async (...args: string[]) => {
      const { code, stderr } = await lifeboat(["helm", "judge", ...args]);
      return [code, stderr];
    };
    expect(await said("fit")).toEqual([2, expect.stringMatching(/--calibration ID, or --source-model/)]);
    expect(await said("fit", ...PAIR, "--streaming", "buffer", "--window", "4")).toEqual([
      2,
      expect.stringMatching(/judged whole/),
    ]);
    expect(await said("fit", "--calibration", "x", "--rows", "y")).toEqual([
      2,
      expect.stringMatching(/on the server/),
    ]);
    expect(await said("show", "no-such.json")).toEqual([5, expect.stringMatching(/no file no-such\.json/)]);
    const broken = join(folder, "rows.jsonl");
    await writeFile(broken, `${JSON.stringify(labelledAnswers(1, 1)[0])}\n{"id": "x"}\n`);
    expect(await said("fit", ...PAIR, "--rows", broken)).toEqual([5, expect.stringMatching(/line 2: group/)]);
    await writeFile(broken, "no JSON");
    expect(await said("fit", ...PAIR, "--rows", broken)).toEqual([
      5,
      expect.stringMatching(/line 1, is no JSON/),
    ]);
    expect(await said("fit", ...PAIR, "--rows", await rowsFile(20))).toEqual([
      5,
      expect.stringMatching(/20 labelled answers/),
    ]);
    expect(await said("show", broken)).toEqual([5, expect.stringMatching(/no judge table/)]);
  });
});

it("chooses a route's judge: what is not given stays, and what contradicts itself is refused", async () => {
  const server = {
    judge: { get: { query: async ({ id }: { id: string }) => ({ id: `found ${id}` }) } },
  } as unknown as Server;
  const held = { id: "held", by: { escalation_rate: 0.1 } };
  const choice = (raw: Record<string, string>, now: typeof held | null = held) =>
    readJudgeChoice(server, raw, now);
  expect(await choice({})).toBeUndefined();
  expect(await choice({ judge: "none" })).toBeNull();
  expect(await choice({ judge: "abc" })).toEqual({ id: "found abc", by: { escalation_rate: 0.1 } });
  expect(await choice({ qualityFloor: "0.9" })).toEqual({ id: "held", by: { quality_floor: 0.9 } });
  for (const [raw, now] of [
    [{ judge: "abc" }, null],
    [{ escalationRate: "0.2" }, null],
    [{ judge: "none", escalationRate: "0.2" }, held],
    [{ escalationRate: "0.2", qualityFloor: "0.9" }, held],
    [{ escalationRate: "2" }, held],
  ] as const)
    await expect(choice(raw, now)).rejects.toMatchObject({ exitCode: 2 });
});

it("says in one line whether the probabilities come true in traffic", () => {
  expect(checkLine(null)).toMatch(/no kept request was drawn/);
  const check = { requests: 40, predicted: 0.1, observed: { value: 0.125, low: 0.05, high: 0.25 } };
  expect(checkLine(check)).toMatch(/12\.5 % \[5\.0 %, 25\.0 %\].*\(40 drawn\), where it said 10\.0 %/);
});
