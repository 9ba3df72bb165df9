import fc from "fast-check";
import { expect, it } from "vitest";
import { ENGINES, type Engine, TENANTS, World } from "./testing/model";
import { TICKET_GRACE_MS } from "./ticket-book";

/** Model checking of ledger, queue and tickets of two engines, by commands in any order. */
type Model = Record<string, never>;
type Step = fc.AsyncCommand<Model, World>;

const step = (name: string, work: (world: World) => void): Step => ({
  check: () => true,
  run: async (_, world) => {
    work(world);
    await world.check();
  },
  toString: () => name,
});

const pick = <T>(list: readonly T[], at: number): T | undefined => list[at % Math.max(1, list.length)];
const engine = fc.constantFrom<Engine>(...ENGINES);
const tenant = fc.constantFrom(...TENANTS);
const at = fc.nat(1_000);

const ask = fc
  .record({
    engine,
    tenant,
    bytes: fc.integer({ min: 1, max: 110 }),
    deadlineMs: fc.oneof(fc.nat(3_000), fc.constant(200_000)),
    keepsPlace: fc.boolean(),
  })
  .map((what) => step(`ask ${JSON.stringify(what)}`, (world) => world.ask(what)));

const bound = fc
  .record({
    engine,
    tenant,
    bytes: fc.integer({ min: 1, max: 60 }),
    slack: fc.nat(50),
    deadlineMs: fc.nat(3_000),
  })
  .map((what) => step(`bound ${JSON.stringify(what)}`, (world) => world.askBound(what)));

const escalate = fc
  .tuple(at, fc.integer({ min: 1, max: 110 }), fc.nat(500))
  .map(([which, bytes, deadlineMs]) =>
    step(`escalate ${which} ${bytes} ${deadlineMs}`, (world) => {
      const client = pick(world.running("pilot"), which);
      if (!client?.reservation) return;
      const pilot = client.reservation;
      // The room moves from the answer that was judged to the escalation.
      client.reservation = null;
      world.ask({ engine: "target", tenant: client.tenant, bytes, deadlineMs, pilot });
    }),
  );

const finish = at.map((which) =>
  step(`finish ${which}`, (world) => {
    const client = pick(world.running(), which);
    if (client) world.finish(client);
  }),
);

const cancel = at.map((which) =>
  step(`cancel ${which}`, (world) => {
    const client = pick(world.clients, which);
    client?.abort.abort();
    if (client) world.finish(client);
  }),
);

const crash = engine.map((name) =>
  step(`crash ${name}`, (world) => {
    for (const client of world.running(name)) world.finish(client);
  }),
);

const restart = fc.tuple(engine, fc.integer({ min: 60, max: 100 })).map(([name, bytes]) =>
  step(`restart ${name} ${bytes}`, (world) => {
    world.capacity[name] = bytes;
    world.gates[name].measure(bytes);
    for (const client of world.running()) world.finish(client);
    for (const client of world.clients) {
      if (client.pilot === null) continue;
      client.abort.abort();
      world.finish(client);
    }
  }),
);

const ticket = fc.tuple(at, fc.nat(2_000)).map(([which, deadlineMs]) =>
  step(`ticket ${which} ${deadlineMs}`, (world) => {
    const [out] = world.tickets.splice(which % Math.max(1, world.tickets.length), 1);
    if (out) world.ask({ ...out, deadlineMs });
  }),
);

const pass = fc.nat(400).map((ms) => step(`pass ${ms}`, (world) => world.clock.pass(ms)));
const passLong = fc.constant(step("pass long", (world) => world.clock.pass(70_000)));

/** Mostly asking, so that there is a queue; a quarter of all steps give back. */
const often = <T>(times: number, one: T): T[] => Array.from({ length: times }, () => one);
const commands = [
  ...often(12, ask),
  ...often(6, bound),
  ...often(4, escalate),
  ...often(6, finish),
  ...often(4, cancel),
  ...often(6, pass),
  ...often(4, ticket),
  crash,
  restart,
  passLong,
];

it("never over capacity, never leaked, never negative, no lost wake-up, no deadlock: 100,000 steps", async () => {
  let steps = 0;
  const runs = fc.asyncProperty(fc.commands(commands, { maxCommands: 600, size: "max" }), async (all) => {
    const world = new World({ pilot: 100, target: 100 });
    await fc.asyncModelRun(() => ({ model: {}, real: world }), all);
    await drain(world);
    steps += world.steps;
  });
  await fc.assert(runs, { numRuns: 450, endOnFailure: true });
  expect(steps).toBeGreaterThanOrEqual(100_000);
}, 300_000);

/** Everything that runs ends, and nobody is left behind: each that waits gets in or its deadline's refusal. */
async function drain(world: World): Promise<void> {
  for (let round = 0; round < 500; round++) {
    const running = world.running();
    if (running.length === 0 && ENGINES.every((name) => world.waiting(name).length === 0)) break;
    for (const client of running) world.finish(client);
    await world.check();
    if (world.running().length === 0) {
      // A kept place may hold the rest back until it lapses.
      world.clock.pass(TICKET_GRACE_MS + 30_000);
      await world.check();
    }
  }
  world.clock.pass(TICKET_GRACE_MS + 30_000);
  await world.check();
  for (const name of ENGINES) {
    const gate = world.gates[name];
    expect([gate.reserved, gate.waiting, gate.ticketsOut]).toEqual([0, 0, 0]);
    expect(gate.available).toBe(world.capacity[name]);
  }
  expect(world.clock.pending).toBe(0);
}

it("lets a large request in after at most what ran when it came to the head, under a flood of small ones", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 100 }),
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 20 }),
      async (large, sizes) => {
        const world = new World({ pilot: 100, target: 100 });
        for (const bytes of sizes) world.ask({ engine: "pilot", tenant: "flood", bytes, deadlineMs: 0 });
        await world.check();
        // Places that were kept for refused ones have lapsed.
        world.clock.pass(TICKET_GRACE_MS + 30_000);
        const before = world.running("pilot");
        world.ask({ engine: "pilot", tenant: "long", bytes: large, deadlineMs: 1e9 });
        await world.check();
        const [long] = world.clients.filter((client) => client.tenant === "long");
        // The flood goes on: none of what it brings in ever ends.
        for (const client of before) {
          for (const bytes of sizes) world.ask({ engine: "pilot", tenant: "flood", bytes, deadlineMs: 1e9 });
          await world.check();
          world.finish(client);
          await world.check();
        }
        expect(long?.outcome?.outcome).toBe("admitted");
      },
    ),
  );
});

it("never keeps more than one place's bytes free for a tenant whose requests leave as soon as they are back", async () => {
  const action = fc.constantFrom("refused", "back and gone", "pass");
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 40 }), async (actions) => {
      const world = new World({ pilot: 100, target: 100 });
      world.ask({ engine: "pilot", tenant: "b", bytes: 100, deadlineMs: 0 });
      await world.check();
      for (const what of actions) {
        const [out] = what === "back and gone" ? world.tickets.splice(0, 1) : [];
        if (what === "refused") world.ask({ engine: "pilot", tenant: "a", bytes: 10, deadlineMs: 0 });
        if (what === "pass") world.clock.pass(20_000);
        if (out) world.ask({ ...out, deadlineMs: 1_000 });
        if (out) world.waiting("pilot").at(-1)?.abort.abort();
        await world.check();
        expect(world.gates.pilot.placesHeldBy("a")).toBeLessThanOrEqual(1);
      }
      for (const client of world.running()) world.finish(client);
      await drain(world);
    }),
  );
});
