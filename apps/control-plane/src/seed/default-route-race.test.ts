import { afterAll, beforeAll, expect, it } from "vitest";
import { DEFAULT_ROUTE } from "../route/schema";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { outcomes, whileWritersWait } from "../testing/moment";
import { BUNDLED, joinWorker, registerPair, type TestWorker } from "../testing/worker";

let control: TestControlPlane;
let worker: TestWorker;
beforeAll(async () => {
  control = await testControlPlane();
  worker = await joinWorker(control);
});
afterAll(() => control.stop());

it("registers the first pair also where a person makes the very route that comes with it", async () => {
  const admin = control.as("admin");
  const { pairId } = await registerPair(control, worker, "target", "target");
  await admin.pair.register({ sourceModel: "pilot", targetModel: "pilot" });
  await admin.pair.register({ sourceModel: "pilot", targetModel: "target" });
  const jobs = [await worker.claim(), await worker.claim()].map(({ json }) => json);
  const end = ({ id, attempt, model }: { id: string; attempt: string; model: keyof typeof BUNDLED }) =>
    worker.finish(id, { attempt, outcome: "inspected", facts: BUNDLED[model] });
  const [first, last] = jobs.sort((a, b) => (a.model > b.model ? 1 : -1));
  // The pilot alone gives its control; the pair follows with its target.
  await end(first);
  let made: Promise<string[]> = Promise.resolve([]);
  let ended: Promise<{ status: number }> = Promise.resolve({ status: 0 });
  await whileWritersWait(control, "RoutingSnapshot", async (waiting) => {
    const judge = { meanLogprob: -1, minLogprob: -3 };
    made = outcomes([admin.route.create({ name: DEFAULT_ROUTE, pairId: pairId ?? "", judge })]);
    await waiting(1);
    ended = end(last);
    await waiting(2);
  });
  expect([await made, (await ended).status]).toEqual([["done"], 200]);
  expect(await control.db.route.count()).toBe(1);
  const pending = await control.db.pairRegistration.count({ where: { state: "PENDING" } });
  expect(pending).toBe(0);
});
