import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestDatabase, testDatabase } from "./testing/index";

let database: TestDatabase;
const warnings: string[] = [];
const keep = ({ message }: Error) => warnings.push(message);

beforeAll(async () => {
  process.on("warning", keep);
  database = await testDatabase();
  const { db } = database;
  const { id } = await db.model.create({ data: { name: "m", facts: {}, inspectedAt: new Date() } });
  await db.pair.create({ data: { sourceId: id, targetId: id, control: true } });
});
afterAll(async () => {
  process.off("warning", keep);
  await database.drop();
});

it("asks a transaction's connection for relations one after the other", async () => {
  const { db } = database;
  const include = { source: true, target: true, mappers: true, calibrations: true, routes: true };
  const pair = await db.$transaction((tx) => tx.pair.findFirstOrThrow({ include }));
  expect(pair).toMatchObject({ source: { name: "m" }, target: { name: "m" }, mappers: [], routes: [] });
  const counts = await db.$transaction((tx) =>
    Promise.all([tx.model.count(), tx.pair.count(), tx.route.count(), tx.mapper.count()]),
  );
  expect(counts).toEqual([1, 1, 0, 0]);
  // A warning is emitted in the next tick.
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings).toEqual([]);
});

it("takes a transaction back whole where one of several statements fails", async () => {
  const { db } = database;
  const failing = db.$transaction((tx) =>
    Promise.all([
      tx.model.create({ data: { name: "n", facts: {}, inspectedAt: new Date() } }),
      tx.model.create({ data: { name: "m", facts: {}, inspectedAt: new Date() } }),
    ]),
  );
  await expect(failing).rejects.toMatchObject({ code: "P2002" });
  expect(await db.model.count()).toBe(1);
});
