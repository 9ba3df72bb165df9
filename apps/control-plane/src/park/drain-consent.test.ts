import { expect, it } from "vitest";
import { DrainFleet, HERE } from "../testing/drain-fleet";
import { until } from "../testing/until";

const fleet = new DrainFleet();

const start = () =>
  fleet
    .operator()
    .calibration.start({ pairId: fleet.pairId, device: "cpu", room: "drain" })
    .then(
      () => "started",
      (error) => error.cause.code,
    );
const reach = () =>
  fleet.control.as("viewer").calibration.drainReach({ pairId: fleet.pairId, device: "cpu" });

it("asks for consent though the worker is away when the run is started: it drains when it is back", async () => {
  await fleet.claim();
  await fleet.control
    .as("admin")
    .route.create({ name: "tested", pairId: fleet.pairId, judge: { meanLogprob: -1, minLogprob: -5 } });
  fleet.elsewhere.socket.disconnect();
  await until(reach, ({ workers }) => workers[0]?.unserved.includes("tested") === true);
  const away = { kind: "worker", revokedAt: null } as const;
  await fleet.control.db.host.updateMany({ where: away, data: { lastSeenAt: new Date(0) } });
  expect((await reach()).workers).toEqual([]);
  expect(await start()).toBe("NONE_WOULD_SERVE");
  await fleet.control.db.host.updateMany({ where: away, data: { lastSeenAt: new Date() } });
  fleet.elsewhere.socket.connect();
  await until(reach, ({ workers }) => workers[0]?.unserved.length === 0);
});

it("asks for none where the worker's machine has no node, whatever the others are about", async () => {
  await fleet.worker.claim({ machine: "c".repeat(32) });
  for (const { id } of [fleet.here, fleet.elsewhere]) {
    const { readiness } = await fleet.control.db.nodeState.findUniqueOrThrow({ where: { nodeId: id } });
    const joining = { ...(readiness as { engine: object }), serving: null };
    joining.engine = { ...joining.engine, models: [] };
    await fleet.control.db.nodeState.update({ where: { nodeId: id }, data: { readiness: joining } });
  }
  expect(await reach()).toMatchObject({ workers: [{ nodes: [], unserved: [] }] });
  expect(await start()).toBe("started");
  await fleet.worker.claim({ machine: HERE, rooms: [], waiting: "nothing" });
  await fleet.here.report();
  await fleet.elsewhere.report();
});
