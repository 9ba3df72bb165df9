import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { type TestControlPlane, testControlPlane } from "./control-plane";
import { obedientNode } from "./obedient-node";
import { until } from "./until";
import { joinWorker, registerPair, type TestWorker } from "./worker";

/** The machine of the worker and of the node `here`. */
export const HERE = "a".repeat(32);

/** A worker with a node on its machine, and a node on another: new for a file, and as at first after each of its tests. */
export class DrainFleet {
  control!: TestControlPlane;
  worker!: TestWorker;
  pairId = "";
  here!: Awaited<ReturnType<typeof obedientNode>>;
  elsewhere!: Awaited<ReturnType<typeof obedientNode>>;

  constructor() {
    beforeAll(async () => {
      this.control = await testControlPlane({ HELM_LEASE_MS: "2000", HELM_DRAIN_MS: "60000" });
      this.worker = await joinWorker(this.control);
      this.pairId = (await registerPair(this.control, this.worker, "pilot", "target")).pairId ?? "";
      this.here = await obedientNode(this.control, "here", HERE);
      this.elsewhere = await obedientNode(this.control, "elsewhere", "b".repeat(32));
    });
    afterAll(() => this.control.stop());
    beforeEach(() => this.here.runs(0));
    afterEach(() => this.endOpenRun());
  }

  operator() {
    return this.control.as("operator");
  }

  get(id: string) {
    return this.control.as("viewer").calibration.get({ id });
  }

  claim() {
    return this.worker.claim({ machine: HERE });
  }

  /** A run that drains, claimed while the node has so many requests. */
  async draining(requests = 1) {
    await this.here.runs(requests);
    const asked = { pairId: this.pairId, device: "cpu", room: "drain" } as const;
    const { id } = await this.operator().calibration.start(asked);
    const job = (await this.claim()).json;
    expect(job).toMatchObject({ id, room: "drain" });
    const attempt = job.attempt as string;
    return { id, attempt, waitsFor: job.waits_for, beat: () => this.worker.heartbeat(id, attempt) };
  }

  /** As draining, and its node is parked: the job may begin. */
  async parked() {
    const run = await this.draining(0);
    await until(
      async () => (await run.beat()).json.waits_for,
      (waits) => waits === null,
    );
    expect(this.here.orders).toMatchObject({ drain: true, park: true });
    return run;
  }

  served() {
    return until(
      () => this.here.orders,
      (orders) => !orders.park && !orders.drain,
    );
  }

  async audited(verb: "node.park" | "node.unpark", entityId: string) {
    return (await this.control.as("admin").audit.list({ verb, entityId })).rows;
  }

  private async endOpenRun(): Promise<void> {
    const open = (await this.control.as("viewer").pair.get({ id: this.pairId })).calibrating;
    if (open) {
      await this.operator().calibration.cancel({ id: open });
      await until(
        () => this.get(open),
        ({ state }) => state === "CANCELLED" || state === "LOST",
      );
    }
    expect(await this.control.db.nodePark.count()).toBe(0);
  }
}
