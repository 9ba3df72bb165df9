import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import type { Context } from "./context";
import { type TestControlPlane, testControlPlane } from "./testing/control-plane";
import { outsideTransaction } from "./transaction";
import { createCallerFactory, query, router } from "./trpc/procedure";

let control: TestControlPlane;
beforeAll(async () => {
  control = await testControlPlane();
});
afterAll(() => control.stop());

const gateIn = async ({ db }: Context) => (await db.setting.findUniqueOrThrow({ where: { id: 1 } })).gate;

/** Two reads with a change of somebody else's between them. */
async function readTwice(ctx: Context): Promise<number[]> {
  const first = await gateIn(ctx);
  await control.db.setting.update({ where: { id: 1 }, data: { gate: first / 2 } });
  return [first, await gateIn(ctx)];
}

// Named as procedures that everyone with an account may call.
const probes = router({
  overview: router({
    helm: query.query(({ ctx }) => readTwice(ctx)),
  }),
  pair: router({
    list: query.output(z.array(z.number())).query(({ ctx }) => readTwice(ctx)),
    get: query.input(z.object({ id: z.string() })).query(({ ctx }) => readTwice(ctx)),
    storage: query.query(({ ctx }) => ctx.db.setting.update({ where: { id: 1 }, data: { gate: 0.1 } })),
  }),
});

const caller = () =>
  createCallerFactory(probes)(
    outsideTransaction({
      services: control.services,
      actor: {
        kind: "person",
        id: control.ids.admin,
        name: "admin",
        email: "admin@example.com",
        role: "admin",
        sessionId: control.ids.admin,
      },
      requestId: "probe",
      address: "127.0.0.1",
      log: control.services.log,
    }),
  );

it.each([
  ["without an input", () => caller().overview.helm()],
  ["with an output", () => caller().pair.list()],
  ["with an input", () => caller().pair.get({ id: "any" })],
])("a query %s answers of one moment", async (_, ask) => {
  const [first, second] = await ask();
  expect(second).toBe(first);
  expect(await gateIn({ db: control.db } as unknown as Context)).toBe((first ?? 0) / 2);
});

it("a query cannot write, which would pass by the audit", async () => {
  const before = await gateIn({ db: control.db } as unknown as Context);
  await expect(caller().pair.storage()).rejects.toMatchObject({ code: "INTERNAL_SERVER_ERROR" });
  expect(await gateIn({ db: control.db } as unknown as Context)).toBe(before);
});
