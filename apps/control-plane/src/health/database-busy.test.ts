import { afterAll, beforeAll, expect, it } from "vitest";
import { ORIGIN, type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { addPerson, signIn } from "../testing/people";
import { until } from "../testing/until";
import { toHelmError } from "../trpc/errors";

let control: TestControlPlane;
let bearer: string;
let free: (() => Promise<void>) | undefined;

beforeAll(async () => {
  control = await testControlPlane({ HELM_AUTH_RATE_LIMIT: "false" });
  bearer = (await signIn(control, (await addPerson(control, "admin")).email)).bearer;
});
afterAll(async () => {
  await free?.();
  await control.stop();
});

/** Takes every connection that the control plane has for requests, as slow statements do; gives how to let them go. */
async function takeAllConnections(): Promise<() => Promise<void>> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let held = 0;
  const holding = Array.from({ length: 10 }, () =>
    control.services.db.$transaction(
      async (tx) => {
        await tx.$queryRaw`SELECT 1`;
        held += 1;
        await released;
      },
      { maxWait: 20_000, timeout: 80_000 },
    ),
  );
  await until(
    async () => held,
    (n) => n === holding.length,
  );
  return async () => {
    release();
    await Promise.all(holding);
  };
}

const ask = (path: string, json?: unknown) =>
  control.request(json ? "POST" : "GET", path, {
    bearer,
    headers: { origin: ORIGIN },
    ...(json ? { json } : {}),
  });

it("no free connection is another trouble than a database that is away, and passes by itself", async () => {
  free = await takeAllConnections();
  const answers = await Promise.all([
    ask("/trpc/pair.list"),
    ask("/trpc/setting.update", { json: {} }),
    control.request("GET", "/trpc/setup.status"),
    control.request("POST", "/api/worker/claim", { bearer: "hlm_anything", json: {} }),
  ]);
  for (const answer of answers) {
    const said = answer.json?.error?.json?.data?.helm ?? answer.json?.error;
    expect({ status: answer.status, code: said?.code }).toEqual({ status: 503, code: "DATABASE_BUSY" });
    expect(answer.headers.get("retry-after")).toBe("5");
  }
  // Nothing is to be restarted, and nobody to be sent elsewhere, because of it.
  expect(await ask("/api/health")).toMatchObject({ status: 200, json: { ok: true, database: true } });
  await free();
  free = undefined;
  expect((await ask("/trpc/pair.list")).status).toBe(200);
});

it("a transaction that takes longer than it may is told as what it is", async () => {
  const slow = control.services.db.$transaction(
    async (tx) => {
      await tx.$executeRaw`SELECT pg_sleep(0.5)`;
      await tx.$queryRaw`SELECT 1`;
    },
    { timeout: 100 },
  );
  const error = await slow.then(
    () => null,
    (thrown: unknown) => toHelmError(thrown),
  );
  expect(error?.code).toBe("DATABASE_BUSY");
});
