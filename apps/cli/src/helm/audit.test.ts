import { expect, it, vi } from "vitest";
import { lifeboat } from "../testing";
import { alignedTo, cellsOf, readWhen } from "./audit";

// Each run is a whole process.
vi.setConfig({ testTimeout: 120_000 });

const now = Date.parse("2026-11-30T12:00:00Z");

it("reads times as people write them, in UTC, a day whole at its end", () => {
  expect(readWhen("2h", "start", now)?.toISOString()).toBe("2026-11-30T10:00:00.000Z");
  expect(readWhen("2026-11-29", "start")?.toISOString()).toBe("2026-11-29T00:00:00.000Z");
  expect(readWhen("2026-11-29", "end")?.toISOString()).toBe("2026-11-30T00:00:00.000Z");
  expect(readWhen("2026-11-29T08:30", "end")?.toISOString()).toBe("2026-11-29T08:30:00.000Z");
  expect(readWhen("2026-11-29T08:30+02:00", "start")?.toISOString()).toBe("2026-11-29T06:30:00.000Z");
  expect(readWhen(undefined, "start")).toBeUndefined();
});

it.each(["yesterday", "30.11.2026", "2026-13-01", "2h30", ""])(
  "refuses %j as a time and says what it takes",
  (when) => {
    expect(() => readWhen(when, "start")).toThrow(/no time.*2h/);
  },
);

const row = {
  id: "01a22c9b-e95d-7375-bd8e-b0ac19cf59bc",
  at: new Date(now),
  actorKind: "person",
  actorId: null,
  actorName: "ada@example.org",
  verb: "tenant.setEnabled",
  entity: "tenant",
  entityId: "7",
  before: { enabled: false, name: "acme" },
  after: { enabled: true, name: "acme" },
  reason: null,
  requestId: "r",
};

it("writes a row with what changed alone, in words", () => {
  expect(cellsOf(row)).toEqual([
    "2026-11-30 12:00:00",
    "ada@example.org",
    "enabled or excluded a tenant",
    "tenant 7",
    "enabled: false -> true",
  ]);
  expect(cellsOf({ ...row, entityId: row.id, verb: "of.another.version" }).slice(2, 4)).toEqual([
    "of.another.version",
    "tenant ...19cf59bc",
  ]);
});

it("aligns its columns, and writes nothing that a terminal would obey", () => {
  const lines: string[] = [];
  const write = alignedTo((line) => lines.push(line));
  write({ ...row, reason: "\u001b[2Jgone" });
  write({ ...row, actorName: "bo", verb: "session.signIn" });
  expect(lines.map((line) => line.indexOf("tenant 7"))).toEqual([73, 73]);
  expect(lines.join("")).not.toContain("\u001b");
});

it("asks for a server, and for a limit that is one", async () => {
  const none = await lifeboat(["helm", "audit", "list"]);
  expect(none.code).toBe(2);
  expect(none.stderr).toContain("lifeboat login URL");
  const limit = await lifeboat(["helm", "audit", "list", "--limit", "many"], {
    LIFEBOAT_URL: "http://127.0.0.1:9",
    LIFEBOAT_TOKEN: "x",
  });
  expect(limit.code).toBe(2);
  expect(limit.stderr).toContain("--limit");
});
