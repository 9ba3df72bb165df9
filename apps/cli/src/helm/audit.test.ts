import { expect, it, vi } from "vitest";
import { lifeboat } from "../testing";
import { lineOf, readWhen } from "./audit";

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

it("writes a row as one line with what changed alone, and nothing that a terminal would obey", () => {
  expect(lineOf(row)).toBe(
    "2026-11-30 12:00:00  ada@example.org  tenant.setEnabled  tenant 7  enabled: false -> true",
  );
  expect(lineOf({ ...row, reason: "\u001b[2Jgone" })).not.toContain("\u001b");
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
