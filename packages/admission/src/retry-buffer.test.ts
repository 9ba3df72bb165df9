import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { AdmissionGate } from "./admission-gate";
import { VirtualClock } from "./testing/virtual-clock";

class Overload extends Error {}

const settle = async () => {
  for (let tick = 0; tick < 12; tick++) await Promise.resolve();
};

function rig() {
  const clock = new VirtualClock();
  const gate = new AdmissionGate(1_000, 10, clock);
  const tried: string[] = [];
  let room = 0;
  const pass = async (ms: number) => {
    for (let t = 0; t < ms; t += 10) {
      clock.pass(10);
      await settle();
    }
  };
  /** `answers` keeps an accepted request under way until it resolves. */
  const again = (
    name: string,
    ways: { deadlineMs?: number; signal?: AbortSignal; answers?: Promise<void> } = {},
  ) =>
    gate.retries
      .again(new Overload("first"), {
        run: async (accepted) => {
          tried.push(name);
          if (room === 0) throw new Overload(name);
          room -= 1;
          accepted();
          await ways.answers;
          return name;
        },
        isOverload: (error) => error instanceof Overload,
        deadlineMs: ways.deadlineMs ?? 10_000,
        signal: ways.signal,
      })
      .catch((error: Error) => error);
  return { gate, tried, pass, again, free: (n: number) => (room += n) };
}

describe("what the engine sent back", () => {
  it("listens to each client once at most, however often it is tried, and to none that has its answer", async () => {
    const { tried, pass, again, free } = rig();
    const [first, second] = [new AbortController(), new AbortController()];
    const all = Promise.all([
      again("a", { deadlineMs: 60_000, signal: first.signal }),
      again("b", { deadlineMs: 60_000, signal: second.signal }),
    ]);
    await pass(20_000);
    const listeners = () => [first, second].map(({ signal }) => getEventListeners(signal, "abort").length);
    expect(tried.length).toBeGreaterThan(10);
    expect(Math.max(...listeners())).toBe(1);
    free(2);
    await pass(5_000);
    expect(await all).toEqual(["a", "b"]);
    expect(listeners()).toEqual([0, 0]);
  });

  it("is tried again one at a time, in the order in which it came back", async () => {
    const { tried, pass, again, free } = rig();
    const all = Promise.all(["a", "b", "c"].map((name) => again(name)));
    await pass(400);
    expect(new Set(tried)).toEqual(new Set(["a"]));
    free(3);
    await pass(2_000);
    expect(await all).toEqual(["a", "b", "c"]);
    expect(tried.filter((name) => name !== "a")).toEqual(["b", "c"]);
  });

  it("goes before everybody who was not let in, and no longer once the engine has taken it", async () => {
    const { gate, pass, again, free } = rig();
    let finish = () => {};
    const answers = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const sentBack = again("a", { answers });
    let outcome = "waits";
    void gate.admit({ tenant: "x", bytes: 1, deadlineMs: 60_000 }).then((admission) => {
      outcome = admission.outcome;
    });
    expect((await gate.admit({ tenant: "x", bytes: 1, deadlineMs: 0, keepsPlace: false })).outcome).toBe(
      "refused",
    );
    const bound = { tenant: "x", bytes: 1, exact: async () => 1, deadlineMs: 0 };
    expect(await gate.admitBound(bound)).toBeNull();
    await pass(500);
    expect(outcome).toBe("waits");
    free(1);
    await pass(2_000);
    expect([outcome, gate.retries.size]).toEqual(["admitted", 0]);
    finish();
    expect(await sentBack).toBe("a");
  });

  it("ends with the engine's own words at its deadline, and leaves at once when its client does", async () => {
    const { gate, tried, pass, again } = rig();
    const leaver = new AbortController();
    const first = again("a", { deadlineMs: 300 });
    const second = again("b", { signal: leaver.signal });
    leaver.abort();
    await settle();
    expect(gate.retries.size).toBe(1);
    await pass(600);
    expect(await first).toBeInstanceOf(Overload);
    expect(await second).toBeInstanceOf(Overload);
    expect([tried.includes("b"), gate.retries.size]).toEqual([false, 0]);
  });

  it("passes any other error on, and is bounded", async () => {
    const { gate, again } = rig();
    const broken = new Error("broken");
    const clock = new VirtualClock();
    const { retries } = new AdmissionGate(1, 1, clock);
    const failed = retries
      .again(new Overload(), {
        run: () => Promise.reject(broken),
        isOverload: (e) => e instanceof Overload,
        deadlineMs: 1e6,
      })
      .catch((error) => error);
    await settle();
    clock.pass(100);
    expect(await failed).toBe(broken);
    for (let n = 0; n < 256; n++) void again(`${n}`);
    expect(await again("one too many")).toBeInstanceOf(Overload);
    expect(gate.retries.size).toBe(256);
  });
});
