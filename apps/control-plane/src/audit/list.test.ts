import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";

let control: TestControlPlane;
const start = Date.parse("2026-11-01T00:00:00Z");
const ROWS = 25;

beforeAll(async () => {
  control = await testControlPlane();
  // Several rows of one moment, as one transaction writes them, and ids in no order of time.
  await control.db.auditEntry.createMany({
    data: Array.from({ length: ROWS }, (_, i) => ({
      id: randomUUID(),
      at: new Date(start + Math.floor(i / 4) * 60_000),
      actorKind: i % 5 === 0 ? "host" : "person",
      actorName: i % 2 === 0 ? "ada@example.org" : "bo@example.org",
      verb: i % 5 === 0 ? "test.fifth" : "test.other",
      entity: "test",
      entityId: String(i),
      requestId: `request-${i % 3}`,
    })),
  });
});
afterAll(() => control.stop());

async function readAll(filter: Record<string, unknown>, limit: number) {
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await control.as("viewer").audit.list({ ...filter, limit, cursor });
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    seen.push(...page.rows.map((row) => row.entityId));
    cursor = page.nextCursor ?? undefined;
  } while (cursor);
  return seen;
}

it("goes through every row once, newest first, whatever the size of a page", async () => {
  const whole = await readAll({ entity: "test" }, 500);
  expect(new Set(whole).size).toBe(ROWS);
  for (const limit of [1, 3, 4, 7]) expect(await readAll({ entity: "test" }, limit)).toEqual(whole);
  const minutes = whole.map((id) => Math.floor(Number(id) / 4));
  expect(minutes).toEqual([...minutes].sort((a, b) => b - a));
});

it("narrows by who, verb, thing, request and time, and by several at once", async () => {
  expect(await readAll({ entity: "test", actor: "ada@example.org" }, 3)).toHaveLength(13);
  expect(await readAll({ verb: "test.fifth" }, 3)).toHaveLength(5);
  expect(await readAll({ entity: "test", entityId: "7" }, 3)).toEqual(["7"]);
  expect(await readAll({ requestId: "request-1" }, 3)).toHaveLength(8);
  expect(await readAll({ entity: "test", actorKind: "person" }, 3)).toHaveLength(20);
  const since = new Date(start + 60_000);
  const until = new Date(start + 3 * 60_000);
  const between = await readAll({ entity: "test", since, until }, 3);
  expect(between.map(Number).sort((a, b) => a - b)).toEqual([4, 5, 6, 7, 8, 9, 10, 11]);
  expect(await readAll({ verb: "test.fifth", actor: "ada@example.org", since, until }, 3)).toEqual(["10"]);
});

it("says nothing for a page after a row that is not there", async () => {
  expect(await control.as("viewer").audit.list({ cursor: randomUUID() })).toEqual({
    rows: [],
    nextCursor: null,
  });
});

it("offers as filters what stands in it", async () => {
  const values = await control.as("viewer").audit.values();
  expect(values.entities).toContain("test");
  expect(values.verbs).toEqual(expect.arrayContaining(["test.fifth", "test.other", "host.createJoinToken"]));
  expect(values.actors).toEqual(expect.arrayContaining(["ada@example.org", "bo@example.org", "boot"]));
  expect(values.verbs).toEqual([...values.verbs].sort());
});

it("reads by index", async () => {
  const plan = async (sql: string) =>
    JSON.stringify(
      await control.db.$transaction(async (tx) => {
        // With this few rows a walk over all would be cheaper; the question is whether an index could answer at all.
        await tx.$executeRawUnsafe("SET LOCAL enable_seqscan = off");
        await tx.$executeRawUnsafe("SET LOCAL enable_sort = off");
        return tx.$queryRawUnsafe(`EXPLAIN (FORMAT JSON) ${sql}`);
      }),
    );
  const newest = (where: string) => `SELECT * FROM audit_entry WHERE ${where} ORDER BY at DESC LIMIT 51`;
  expect(await plan(newest("actor_name = 'x'"))).toContain("audit_entry_actor_name_at_idx");
  expect(await plan(newest("entity = 'x'"))).toContain("audit_entry_entity_at_idx");
  expect(await plan(newest("verb = 'x'"))).toContain("audit_entry_verb_at_idx");
  expect(await plan("SELECT * FROM audit_entry WHERE request_id = 'x'")).toContain(
    "audit_entry_request_id_idx",
  );
});
