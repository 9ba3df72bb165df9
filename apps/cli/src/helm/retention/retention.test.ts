import { expect, it } from "vitest";
import { createProgram } from "../../program";
import type { Server } from "../../server/client";
import { driftLines } from "./drift";
import { findMapper, findPairNamed } from "./find";

const mapper = (id: string, sha256: string) => ({
  id,
  sha256,
  pairName: "pilot -> target",
  state: "INACTIVE",
});
const server = {
  pair: { list: { query: async () => [{ id: "p", source: { id: "pilot" }, target: { id: "target" } }] } },
  mapper: {
    list: {
      // Two pages: what is looked for may stand on any.
      query: async ({ cursor }: { cursor?: string | null }) =>
        cursor
          ? { rows: [mapper("3", "ff00ff00")], nextCursor: null }
          : { rows: [mapper("1", "aabbccdd"), mapper("2", "aabbccee")], nextCursor: "2" },
    },
  },
} as unknown as Server;

it("finds a mapper by id or by the beginning of its digest, and none where two are meant", async () => {
  expect((await findMapper(server, "2")).id).toBe("2");
  expect((await findMapper(server, "FF00FF")).id).toBe("3");
  await expect(findMapper(server, "aabbcc")).rejects.toMatchObject({ code: "AMBIGUOUS", exitCode: 2 });
  await expect(findMapper(server, "ff")).rejects.toMatchObject({ code: "NOT_FOUND" });
});

it("takes a pair as SOURCE:TARGET and says which there are", async () => {
  expect((await findPairNamed(server, "pilot:target"))?.id).toBe("p");
  expect(await findPairNamed(server, undefined)).toBeUndefined();
  await expect(findPairNamed(server, "pilot")).rejects.toMatchObject({ exitCode: 2 });
  await expect(findPairNamed(server, "target:pilot")).rejects.toThrow(/There are pilot -> target/);
});

it("writes drift turn by turn, in both carries", () => {
  const turn = (at: number, retention: number) => ({
    turn: at,
    direction: at % 2 ? ("up" as const) : ("down" as const),
    retention,
    n: 16,
  });
  const lines = driftLines({
    v: 1,
    type: "drift",
    at: "2026-11-30T12:00:00Z",
    pair: { source: "pilot", target: "target" },
    mapper_sha256: "a",
    reverse_mapper_sha256: "b",
    carries: { new: [turn(1, 0.98), turn(2, 0.97)], all: [turn(1, 0.98), turn(2, 0.9)] },
    device: "cpu",
    development: true,
  });
  expect(lines[1]).toMatch(/1 {2}pilot to target +0\.980 +0\.980 +16/);
  expect(lines[2]).toMatch(/2 {2}target to pilot +0\.970 +0\.900 +16/);
});

it("has the verbs of the retention pages, each once", () => {
  const helm = createProgram(() => undefined).commands.find((command) => command.name() === "helm");
  const verbs = (noun: string) =>
    helm?.commands.find((command) => command.name() === noun)?.commands.map((verb) => verb.name()) ?? [];
  expect(verbs("pair")).toEqual(
    expect.arrayContaining(["list", "show", "register", "compare", "refused", "storage"]),
  );
  expect(verbs("calibration")).toEqual(
    expect.arrayContaining(["list", "show", "start", "cancel", "retry", "logs", "compare"]),
  );
  expect(verbs("mapper")).toEqual(expect.arrayContaining(["list", "show", "activate", "retire"]));
  for (const noun of ["pair", "calibration", "mapper"])
    expect(new Set(verbs(noun)).size).toBe(verbs(noun).length);
  expect(helm?.commands.filter((command) => command.name() === "mapper")).toHaveLength(1);
});
