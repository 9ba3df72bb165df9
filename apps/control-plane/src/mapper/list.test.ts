import { afterAll, beforeAll, expect, it } from "vitest";
import { loadFleet } from "../bench/load";
import { templateRun } from "../bench/template-run";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";

let control: TestControlPlane;
beforeAll(async () => {
  control = await testControlPlane();
  const run = await templateRun(control);
  const few = { pairs: 20, countsEach: 1, eventsEach: 1, audit: 1, minutes: 8, hours: 8, traces: 8 };
  await loadFleet(control.services.config.databaseUrl, run, { calibrations: 300, ...few });
});
afterAll(() => control.stop());

async function pages(asked: { pairId?: string; limit: number }) {
  const found: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await control.as("viewer").mapper.list({ ...asked, cursor });
    expect(page.rows.length).toBeLessThanOrEqual(asked.limit);
    found.push(...page.rows.map(({ id }) => id));
    cursor = page.nextCursor;
  }
  return found;
}

it("gives every mapper once, newest first, however many there are", async () => {
  const ids = (await control.db.mapper.findMany({ orderBy: { id: "desc" } })).map(({ id }) => id);
  expect(ids.length).toBeGreaterThan(200);
  expect(await pages({ limit: 70 })).toEqual(ids);
});

it("stays with one pair's from page to page", async () => {
  const { pairId } = await control.db.mapper.findFirstOrThrow();
  const ids = (await control.db.mapper.findMany({ where: { pairId }, orderBy: { id: "desc" } })).map(
    ({ id }) => id,
  );
  expect(await pages({ pairId, limit: 7 })).toEqual(ids);
});
