import { type TestDatabase, testDatabase } from "@helm/db/testing";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { createLog } from "../logging";
import "../testing/control-plane";
import { until } from "../testing/until";
import { Bus } from "./bus";

let database: TestDatabase;
const open: Bus[] = [];
const log = createLog("silent");

beforeAll(async () => {
  database = await testDatabase();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((bus) => bus.close()));
});
afterAll(() => database.drop());

async function bus(alone = false) {
  const opened = await Bus.open({ databaseUrl: database.url, log, alone });
  open.push(opened);
  const heard: unknown[] = [];
  const gaps: string[] = [];
  opened.onMessage = (body) => heard.push(body);
  opened.onGap = (why) => gaps.push(why);
  return { bus: opened, heard, gaps };
}

const cutConnections = (name: string) => database.db.$queryRaw<{ cut: boolean }[]>`
  SELECT pg_terminate_backend(pid) AS cut FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = ${name}`;

it("carries messages of any length in their order, and none back to who said them", async () => {
  const a = await bus();
  const b = await bus();
  const c = await bus();
  const lengths = [10, 20_000, 10, 7_990, 8_000, 8_010, 500_000, 10, 10, 30_000, 1];
  const said = lengths.map((length, i) => ({ i, text: "é".repeat(length) }));
  for (const body of said) a.bus.publish(body);
  await until(
    () => b.heard.length,
    (n) => n >= said.length,
  );
  await until(
    () => c.heard.length,
    (n) => n >= said.length,
  );
  expect(b.heard).toEqual(said);
  expect(c.heard).toEqual(said);
  expect(a.heard).toEqual([]);
  expect([...b.gaps, ...c.gaps]).toEqual([]);
});

it("takes the longest messages away again", async () => {
  const a = await bus();
  const b = await bus();
  a.bus.publish("x".repeat(9_000));
  await until(
    () => b.heard.length,
    (n) => n === 1,
  );
  const stored = () => database.db.socketAttachment.count();
  expect(await stored()).toBeGreaterThan(0);
  await database.db.$executeRaw`UPDATE "socket_attachment" SET "created_at" = now() - interval '2 minutes'`;
  a.bus.publish("y".repeat(9_000));
  await a.bus.sweep();
  await until(
    () => b.heard.length,
    (n) => n === 2,
  );
  // Only what is old enough that everyone has read it.
  expect(await stored()).toBe(1);
});

it("loses nothing when its connections are cut, says nothing twice, and tells that something may have been missed", async () => {
  const a = await bus();
  const b = await bus();
  let n = 0;
  const talk = setInterval(() => a.bus.publish({ n: ++n }), 2);
  await until(
    () => b.heard.length,
    (count) => count > 50,
  );
  expect((await cutConnections("helm speaker")).length).toBeGreaterThan(0);
  const before = b.heard.length;
  await until(
    () => b.heard.length,
    (count) => count > before + 200,
  );
  clearInterval(talk);
  const last = n;
  await until(
    () => b.heard.length,
    (count) => count >= last,
  );
  expect(b.heard).toEqual(Array.from({ length: last }, (_, i) => ({ n: i + 1 })));
  // The other's listener was never cut, so it has heard every one.
  expect(b.gaps).toEqual([]);
});

it("reads the rows again after its listening was interrupted, and hears what comes later", async () => {
  const a = await bus();
  const b = await bus();
  a.bus.publish("before");
  await until(
    () => b.heard.length,
    (n) => n === 1,
  );
  expect((await cutConnections("helm listener")).length).toBeGreaterThan(0);
  a.bus.publish("while it was deaf");
  await until(
    () => b.gaps.length,
    (n) => n > 0,
  );
  expect(b.gaps.length).toBeGreaterThan(0);
  a.bus.publish("after");
  await until(
    () => b.heard.at(-1),
    (last) => last === "after",
  );
  expect(b.heard.at(-1)).toBe("after");
});

it("notices by the numbers that a message never came", async () => {
  const a = await bus();
  const b = await bus();
  a.bus.publish(1);
  await until(
    () => b.heard.length,
    (n) => n === 1,
  );
  await cutConnections("helm speaker");
  // More than is kept while there is no database: the oldest are given up.
  for (let i = 0; i < 1_500; i += 1) a.bus.publish({ i });
  await until(
    () => b.heard.length,
    (n) => n >= 1_001,
  );
  expect(b.heard.at(-1)).toEqual({ i: 1_499 });
  expect(b.gaps.length).toBe(1);
});

it("counts who else is there, and lets none beside one whose database ends with it", async () => {
  const a = await bus();
  expect(await a.bus.others()).toBe(0);
  const b = await bus();
  expect([await a.bus.others(), await b.bus.others()]).toEqual([1, 1]);
  await expect(bus(true)).rejects.toThrow(/Another control plane/);
  await Promise.all(open.splice(0).map((one) => one.close()));
  await bus(true);
  await expect(bus()).rejects.toThrow(/brought up by `npm start`/);
});
