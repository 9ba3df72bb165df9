import type { DeviceProcess, DeviceTelemetry } from "@helm/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ComputeBudget, judgeDevice, type OwnEngine } from "./device-guard";

const GIB = 1024 ** 3;
const budget: ComputeBudget = {
  neededBytes: 10 * GIB,
  mostUtilisation: 80,
  observers: ["dcgm", "nv-hostengine"],
};

/** Simulated telemetry: no GPU was asked. */
function gpu(
  free: number,
  processes: DeviceProcess[] = [],
  changes: Partial<DeviceTelemetry> = {},
): DeviceTelemetry {
  const used = processes.reduce((sum, one) => sum + (one.used_bytes ?? 0), 0);
  const memory = { total_bytes: free + used, free_bytes: free, used_bytes: used };
  return { kind: "nvidia", name: "NVIDIA H200", memory, utilisation: 5, processes, problems: [], ...changes };
}

function cpu(free: number, processes: DeviceProcess[] = []): DeviceTelemetry {
  return { ...gpu(free, processes), kind: "cpu", name: "this host", utilisation: null };
}

const process = (pid: number, gib: number | null, changes: Partial<DeviceProcess> = {}): DeviceProcess => ({
  pid,
  name: "python",
  used_bytes: gib === null ? null : gib * GIB,
  seen: true,
  group: pid,
  ancestors: [1],
  ...changes,
});

const engine = (pid: number, footprint: number, most: number): OwnEngine => ({
  pid,
  footprint_bytes: footprint * GIB,
  budget_bytes: most * GIB,
});

describe("a device is free for a calibration", () => {
  it("where nobody computes and there is memory", () => {
    expect(judgeDevice(gpu(20 * GIB), [], null, budget)).toMatchObject({
      rooms: ["beside", "drain"],
      sentence: null,
      free_bytes: 20 * GIB,
      promised_bytes: 0,
    });
    expect(judgeDevice(cpu(10 * GIB), [], null, budget).rooms).toEqual(["beside", "drain"]);
  });

  it("not beside what its own engines cannot hold, where the driver counts nothing for each process", () => {
    const used = (gib: number) =>
      gpu(60 * GIB, [process(7, null)], {
        memory: { total_bytes: (60 + gib) * GIB, free_bytes: 60 * GIB, used_bytes: gib * GIB },
      });
    const own = [engine(7, 10, 12)];
    expect(judgeDevice(used(12), own, null, budget).rooms).toEqual(["beside", "drain"]);
    const word = judgeDevice(used(50), own, null, budget);
    expect(word).toMatchObject({
      rooms: [],
      sentence: expect.stringMatching(/38\.0 GiB of .* are in use by/),
    });
    expect(judgeDevice(used(50), own, { pid: 9 }, budget).rooms).toEqual([]);
  });

  it("beside engines, known by their lease, their group and their parents", () => {
    const own = [
      process(7, 4),
      process(8, 1, { group: 7 }),
      process(9, 1, { ancestors: [7, 1] }),
      process(50, 0, { name: "nv-hostengine" }),
    ];
    const word = judgeDevice(gpu(20 * GIB, own), [engine(7, 4, 8)], null, budget);
    expect(word).toMatchObject({ rooms: ["beside", "drain"], promised_bytes: 2 * GIB });
  });
});

describe("a device is not free", () => {
  const cases: [string, DeviceTelemetry, OwnEngine[], RegExp, string[]][] = [
    [
      "a foreign process computes",
      gpu(90 * GIB, [process(4711, 3)]),
      [],
      /Process 4711 \(python, 3\.0 GiB\).*none of Helm's/,
      [],
    ],
    ["and several do", gpu(90 * GIB, [process(1, 1), process(2, 1)]), [], /and 1 more/, []],
    [
      "one beside our engine does",
      gpu(90 * GIB, [process(7, 1), process(8, 1)]),
      [engine(7, 1, 1)],
      /Process 8/,
      [],
    ],
    [
      "a name only begins as an observer's",
      gpu(90 * GIB, [process(4, 1, { name: "dcgmx" })]),
      [],
      /dcgmx/,
      [],
    ],
    [
      "a process cannot be looked at",
      gpu(90 * GIB, [process(3, 1, { seen: false, ancestors: [] })]),
      [],
      /another container/,
      [],
    ],
    [
      "a process has no number",
      gpu(90 * GIB, [process(0, 1, { pid: null, seen: false })]),
      [],
      /unknown number/,
      [],
    ],
    [
      "an unseen process has our engine's number",
      gpu(90 * GIB, [process(7, 1, { seen: false })]),
      [engine(7, 1, 1)],
      /another container/,
      [],
    ],
    [
      "memory is held by nobody listed",
      gpu(90 * GIB, [], { memory: { total_bytes: 99 * GIB, free_bytes: 90 * GIB, used_bytes: 9 * GIB } }),
      [],
      /9\.0 GiB of NVIDIA H200 are in use by processes/,
      [],
    ],
    [
      "no processes are told",
      gpu(90 * GIB, [], { processes: null, problems: ["NVML error 3"] }),
      [],
      /processes could not be read: NVML error 3/,
      [],
    ],
    [
      "no utilisation is told",
      gpu(90 * GIB, [], { utilisation: null }),
      [],
      /utilisation could not be read/,
      [],
    ],
    ["no memory is told", gpu(90 * GIB, [], { memory: null }), [], /free memory could not be read/, []],
    ["a CPU's memory is not told", { ...cpu(0), memory: null }, [], /free memory/, []],
    [
      "memory is short without engines",
      gpu(4 * GIB),
      [],
      /needs 10\.0 GiB.*4\.0 GiB are free\. Free 6\.0 GiB/,
      [],
    ],
    [
      "what is free is promised",
      gpu(12 * GIB, [process(7, 4)]),
      [engine(7, 4, 8)],
      /4\.0 GiB are promised to an engine\. Drain/,
      ["drain"],
    ],
    [
      "an engine holds what is needed",
      cpu(8 * GIB, [process(7, 4)]),
      [engine(7, 4, 4)],
      /8\.0 GiB are free\. Drain/,
      ["drain"],
    ],
    [
      "draining would not give enough either",
      cpu(5 * GIB, [process(7, 4)]),
      [engine(7, 4, 4)],
      /Free 5\.0 GiB/,
      [],
    ],
    [
      "our engines keep it busy",
      gpu(90 * GIB, [process(7, 4)], { utilisation: 97 }),
      [engine(7, 4, 4)],
      /97 % busy.*Drain/,
      ["drain"],
    ],
  ];
  it.each(cases)("%s", (_, device, engines, words, rooms) => {
    const word = judgeDevice(device, engines, null, budget);
    expect(word.sentence).toMatch(words);
    expect(word.rooms).toEqual(rooms);
  });

  it("while an engine starts: its memory is not known yet", () => {
    const word = judgeDevice(gpu(90 * GIB, [process(5, 1)]), [], { pid: 5 }, budget);
    expect(word).toMatchObject({ rooms: [], sentence: expect.stringMatching(/starts an engine/) });
  });
});

describe("always", () => {
  const bytes = fc.integer({ min: 0, max: 200 }).map((gib) => gib * GIB);
  const anyProcess = fc.record({
    pid: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 9 })),
    name: fc.constantFrom(null, "python", "dcgm", "nv-hostengine"),
    used_bytes: fc.oneof(fc.constant(null), bytes),
    seen: fc.boolean(),
    group: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 9 })),
    ancestors: fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 3 }),
  });
  const anyDevice: fc.Arbitrary<DeviceTelemetry> = fc.record({
    kind: fc.constantFrom("nvidia" as const, "amd" as const, "cpu" as const),
    name: fc.constant("device"),
    memory: fc.oneof(
      fc.constant(null),
      fc.record({ total_bytes: bytes, free_bytes: bytes, used_bytes: bytes }),
    ),
    utilisation: fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 100 })),
    processes: fc.oneof(fc.constant(null), fc.array(anyProcess, { maxLength: 4 })),
    problems: fc.array(fc.string({ maxLength: 800 }), { maxLength: 3 }),
  });
  const anyEngines = fc.array(
    fc.record({ pid: fc.integer({ min: 1, max: 9 }), budget_bytes: bytes, footprint_bytes: bytes }),
    { maxLength: 3 },
  );

  it("says why where a room is missing, and nothing where none is", () => {
    fc.assert(
      fc.property(anyDevice, anyEngines, fc.boolean(), (device, engines, starts) => {
        const word = judgeDevice(device, engines, starts ? { pid: 3 } : null, budget);
        expect(word.rooms.length === 2).toBe(word.sentence === null);
        if (word.sentence !== null)
          expect([word.sentence.length > 20, word.sentence.length <= 500]).toEqual([true, true]);
        if (word.rooms.includes("beside")) expect(word.rooms).toContain("drain");
      }),
      { numRuns: 3000 },
    );
  });

  it("is free only where everything was read, nobody foreign computes and the memory is there", () => {
    fc.assert(
      fc.property(anyDevice, anyEngines, (device, engines) => {
        const { rooms, promised_bytes } = judgeDevice(device, engines, null, budget);
        const { memory, processes, utilisation } = device;
        if (rooms.length === 0) return;
        expect(memory).not.toBeNull();
        if (device.kind !== "cpu") {
          expect([processes, utilisation]).not.toContain(null);
          for (const one of processes ?? []) {
            const own = engines.some(
              ({ pid }) => one.seen && (one.pid === pid || one.group === pid || one.ancestors.includes(pid)),
            );
            expect(own || budget.observers.includes(one.name ?? "")).toBe(true);
          }
        }
        if (rooms.includes("beside"))
          expect((memory?.free_bytes ?? 0) - promised_bytes).toBeGreaterThanOrEqual(budget.neededBytes);
      }),
      { numRuns: 3000 },
    );
  });

  it("never becomes less free by more free memory", () => {
    fc.assert(
      fc.property(anyDevice, anyEngines, bytes, (device, engines, more) => {
        const { memory } = device;
        if (!memory) return;
        const roomier = { ...device, memory: { ...memory, free_bytes: memory.free_bytes + more } };
        const [before, after] = [device, roomier].map((one) => judgeDevice(one, engines, null, budget).rooms);
        expect(after).toEqual(expect.arrayContaining(before ?? []));
      }),
    );
  });
});
