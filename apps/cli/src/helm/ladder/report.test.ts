import type { Ladder } from "@helm/contracts";
import { expect, it } from "vitest";
import type { Screen } from "../../terminal/screen";
import { ladderLines, rungLine } from "./report";

const plain = (text: string) => text;
const screen = { width: 100, style: { bold: plain, dim: plain, green: plain, yellow: plain } } as Screen;
const rung = {
  clients: 1,
  requests: 8,
  correct: 8,
  refused: 0,
  failed: 0,
  corrupted: 0,
  seconds: 2,
  first_token_ms: null,
  itl_ms: null,
  memory_bytes: null,
  shortfall_bytes: null,
  broke: [{ rule: "INTER_TOKEN_LATENCY", message: "twice as slow" }],
} as unknown as Ladder["rungs"][number];
const ladder = { gateway: "http://node", model: "pilot", engine: "reference", rungs: [rung], targets: [] };
const said = (development: boolean) =>
  ladderLines(screen, { ...ladder, development, stopped: null } as unknown as Ladder).join("\n");

it("counts one client as one", () => {
  expect(rungLine(rung)).toMatch(/^1 client: /);
  expect(rungLine({ ...rung, clients: 2 })).toMatch(/^2 clients: /);
});

it("says of slow tokens that they end nothing on a CPU", () => {
  expect(said(true)).toContain("INTER_TOKEN_LATENCY at 1 client: twice as slow");
  expect(said(true)).toContain("ends nothing");
  expect(said(false)).not.toContain("ends nothing");
});
