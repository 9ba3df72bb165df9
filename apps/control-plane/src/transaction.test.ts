import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { writeAudit } from "./audit/write-audit";
import type { Context } from "./context";
import { type TestControlPlane, testControlPlane } from "./testing/control-plane";
import { inTransaction, outsideTransaction } from "./transaction";

let control: TestControlPlane;
const log: string[] = [];
beforeAll(async () => {
  control = await testControlPlane({ HELM_LOG_LEVEL: "warn" }, undefined, {
    write: (line) => log.push(line),
  });
});
afterAll(() => control.stop());

const context = (): Context => {
  const { services } = control;
  const actor = { kind: "system", name: "test" } as const;
  return outsideTransaction({
    services,
    actor,
    requestId: randomUUID(),
    address: "local",
    log: services.log,
  });
};

it("tries again what the database ended for another's sake, with one audit row and one step after the commit", async () => {
  const names = ["first", "second"];
  for (const name of names) await control.db.tenant.create({ data: { name } });
  const hold = (ctx: Context, name: string) =>
    ctx.db.$executeRaw`SELECT 1 FROM "tenant" WHERE "name" = ${name} FOR UPDATE`;
  let held = 0;
  const after = vi.fn();
  const run = ([own, other]: string[]) => {
    let tries = 0;
    return inTransaction(context(), { audited: true, publish: false }, async (ctx) => {
      tries += 1;
      await hold(ctx, own ?? "");
      held += 1;
      // Each holds its own before it asks for the other's.
      await vi.waitUntil(() => held >= 2, { timeout: 20_000 });
      await hold(ctx, other ?? "");
      await writeAudit(ctx, { verb: "tenant.update", entity: "tenant", entityId: own ?? "" });
      ctx.afterCommit(after);
      return tries;
    });
  };
  const tries = await Promise.all([run(names), run([...names].reverse())]);
  expect(tries.sort()).toEqual([1, 2]);
  expect(after).toHaveBeenCalledTimes(2);
  expect(await control.db.auditEntry.count({ where: { verb: "tenant.update" } })).toBe(2);
  expect(log.filter((line) => line.includes("tried again"))).toHaveLength(1);
});

it("gives up after a few tries, and tries nothing again that was refused for itself", async () => {
  const ended = Object.assign(new Error("deadlock"), { code: "P2034" });
  const always = vi.fn(() => Promise.reject(ended));
  await expect(inTransaction(context(), { audited: false, publish: false }, always)).rejects.toBe(ended);
  expect(always).toHaveBeenCalledTimes(4);
  const refused = vi.fn(() => Promise.reject(new Error("no")));
  await expect(inTransaction(context(), { audited: false, publish: false }, refused)).rejects.toThrow("no");
  expect(refused).toHaveBeenCalledTimes(1);
});
