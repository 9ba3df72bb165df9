import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { consoleQueries } from "./console-calls";
import { BIG, GROWING, loadFleet, SMALL } from "./load";
import { measureQueries, type QueryMeasure } from "./measure-queries";
import { QUERIES } from "./queries";
import { MAY_READ_WHOLE } from "./read-whole";
import { templateRun } from "./template-run";

let control: TestControlPlane;
let measured: QueryMeasure[];

beforeAll(async () => {
  control = await testControlPlane();
  const run = await templateRun(control);
  await loadFleet(control.services.config.databaseUrl, run, SMALL);
  const { services } = control;
  measured = await measureQueries({
    services,
    databaseUrl: services.config.databaseUrl,
    paths: Object.keys(QUERIES),
    calls: 0,
    explanations: 1,
  });
}, 400_000);
afterAll(() => control.stop());

it("knows every query that a page asks, so that a new one is measured too", () => {
  const pages = consoleQueries();
  expect(pages.length).toBeGreaterThan(20);
  expect(pages.filter((path) => !(path in QUERIES))).toEqual([]);
});

it("asks them in a way that the pages may", () => {
  expect(measured.flatMap(({ path, errors }) => errors.map((error) => `${path} ${error}`))).toEqual([]);
  expect(measured.filter(({ plans }) => plans.length === 0).map(({ path }) => path)).toEqual([
    "session.current",
  ]);
});

describe.each(Object.keys(QUERIES))("%s", (path) => {
  const whole = (kind: "sequential" | "withoutIndex", tables: readonly string[]) =>
    (measured.find((one) => one.path === path)?.plans ?? []).flatMap((plan) =>
      plan[kind]
        .filter((table) => tables.includes(table) && !(`${path} ${table}` in MAY_READ_WHOLE))
        .map((table) => `${table}: ${plan.text}`),
    );

  it("reads no big table from end to end", () => expect(whole("sequential", BIG)).toEqual([]));

  // A thousand rows are read faster without an index: that there is one shows when reading all is forbidden.
  it("has an index for every table that grows", () => expect(whole("withoutIndex", GROWING)).toEqual([]));
});
