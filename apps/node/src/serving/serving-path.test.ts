import fc from "fast-check";
import pino from "pino";
import { describe, expect, it, vi } from "vitest";
import type { ServingEngine } from "../engine/serving-engine";
import { ServingPath } from "./serving-path";
import { moveServing } from "./serving-states";

const engine = (name: string) => ({ name }) as unknown as ServingEngine;
const orders = (revision: number, drain: boolean, canary = 0) => ({ revision, drain, canary });
const park = (revision: number, drain = true) => ({ revision, drain, park: true, canary: 0 });

function path(canary: () => Promise<void> = () => Promise.resolve()) {
  const onCanary = vi.fn();
  const states: string[] = [];
  const wanted: boolean[] = [];
  const serving: ServingPath = new ServingPath(
    { canary, onCanary, retryMs: 1, onEngineWanted: (one) => void wanted.push(one) },
    pino({ level: "silent" }),
    () => states.push(serving.state),
  );
  return { serving, onCanary, states, wanted };
}

describe("a node that is told to drain", () => {
  it("takes nothing new, lets what runs end, and says when that is over", () => {
    const { serving, states } = path();
    serving.engineChanged(engine("a"));
    const leave = serving.enter();
    serving.obey(orders(1, true));
    expect(serving.report()).toMatchObject({ state: "DRAINING", running: 1, orders_revision: 1 });
    expect(serving.enter()).toBeNull();
    leave?.();
    leave?.();
    expect(serving.report()).toMatchObject({ state: "DRAINED", running: 0 });
    expect(states).toEqual(["SERVING", "DRAINING", "DRAINED"]);
  });

  it("comes back by a canary, and its pairs show that they work too", async () => {
    let pass: () => void = () => {};
    const { serving, onCanary } = path(() => new Promise((resolve) => (pass = resolve)));
    serving.engineChanged(engine("a"));
    serving.obey(orders(1, true));
    serving.obey(orders(2, false));
    expect(serving.state).toBe("JOINING");
    expect(serving.enter()).toBeNull();
    pass();
    await vi.waitFor(() => expect(serving.state).toBe("SERVING"));
    expect(onCanary).toHaveBeenCalledOnce();
  });

  it("stays drained when its engine starts anew, and over a restart of its own", () => {
    const { serving } = path();
    serving.restore(orders(4, true, 2));
    expect(serving.state).toBe("DRAINED");
    serving.engineChanged(engine("a"));
    serving.engineChanged(null);
    serving.engineChanged(engine("b"));
    expect(serving.report()).toMatchObject({ state: "DRAINED", orders_revision: 4 });
    expect(serving.enter()).toBeNull();
  });

  it("obeys no orders that are older than those it has", () => {
    const { serving } = path();
    serving.engineChanged(engine("a"));
    serving.obey(orders(2, true));
    serving.obey(orders(1, false));
    serving.obey(orders(2, false));
    expect(serving.state).toBe("DRAINED");
  });

  it("that is told to drain during its canary stays drained when the canary passes", async () => {
    let pass: () => void = () => {};
    const { serving, onCanary } = path(() => new Promise((resolve) => (pass = resolve)));
    serving.engineChanged(engine("a"));
    serving.obey(orders(1, true));
    serving.obey(orders(2, false));
    serving.obey(orders(3, true));
    pass();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(serving.state).toBe("DRAINED");
    expect(onCanary).not.toHaveBeenCalled();
  });
});

describe("a node that is told to park", () => {
  it("wants its engine until nothing runs on it, and is parked when the process is gone", () => {
    const { serving, states, wanted } = path();
    serving.engineChanged(engine("a"));
    const leave = serving.enter();
    serving.obey(park(1));
    expect([serving.state, wanted.at(-1)]).toEqual(["DRAINING", true]);
    expect(serving.enter()).toBeNull();
    leave?.();
    expect([serving.state, wanted.at(-1)]).toEqual(["DRAINED", false]);
    serving.engineChanged(null);
    serving.engineParked(true);
    expect(serving.report()).toMatchObject({ state: "PARKED", orders_revision: 1 });
    expect(states).toEqual(["SERVING", "DRAINING", "DRAINED", "PARKED"]);
  });

  it("joins with a new engine when it may come back, and stays drained where it was drained, too", () => {
    const { serving, wanted } = path();
    serving.engineParked(true);
    serving.restore(park(3));
    expect([serving.state, wanted.at(-1)]).toEqual(["PARKED", false]);
    serving.obey(orders(4, false));
    expect([serving.state, wanted.at(-1)]).toEqual(["JOINING", true]);
    serving.engineParked(false);
    serving.engineChanged(engine("b"));
    expect(serving.state).toBe("SERVING");

    serving.obey(park(5));
    serving.engineChanged(null);
    serving.engineParked(true);
    serving.obey(orders(6, true));
    expect([serving.state, wanted.at(-1)]).toEqual(["DRAINED", true]);
    serving.engineParked(false);
    serving.engineChanged(engine("c"));
    expect(serving.state).toBe("DRAINED");
  });

  it("that is told to come back before its engine ended serves on with it after a canary", async () => {
    const { serving, onCanary } = path();
    serving.engineChanged(engine("a"));
    const leave = serving.enter();
    serving.obey(park(1));
    serving.obey(orders(2, false));
    await vi.waitFor(() => expect(serving.state).toBe("SERVING"));
    expect(onCanary).toHaveBeenCalledOnce();
    leave?.();
  });
});

describe("a canary that was asked for", () => {
  it("leaves a healthy node serving, and tells when it was run", async () => {
    const { serving, onCanary, states } = path();
    serving.engineChanged(engine("a"));
    serving.obey(orders(1, false, 1));
    await vi.waitFor(() => expect(serving.report().canary).toMatchObject({ number: 1, ok: true }));
    expect(onCanary).toHaveBeenCalledOnce();
    expect(states).not.toContain("JOINING");
  });

  it("takes a node off the serving path that fails it, until one passes", async () => {
    let failures = 2;
    const { serving, states } = path(() =>
      failures-- > 0 ? Promise.reject(new Error("no token came")) : Promise.resolve(),
    );
    serving.engineChanged(engine("a"));
    const reasons: unknown[] = [];
    serving.obey(orders(1, false, 1));
    await vi.waitFor(() => {
      reasons.push(serving.report().canary?.reason);
      expect([serving.state, states.includes("JOINING")]).toEqual(["SERVING", true]);
    });
    expect(states).toEqual(expect.arrayContaining(["SERVING", "JOINING"]));
    expect(serving.report().canary).toMatchObject({ ok: true, reason: null });
  });

  it("is told of as failed, with the reason, for as long as none passes", async () => {
    const { serving } = path(() => Promise.reject(new Error("no token came")));
    serving.engineChanged(engine("a"));
    serving.obey(orders(1, false, 1));
    await vi.waitFor(() =>
      expect(serving.report()).toMatchObject({
        state: "JOINING",
        canary: { ok: false, reason: "no token came" },
      }),
    );
    serving.close();
  });
});

it("never takes a request that it was told not to take, and never loses count", () => {
  const step = fc.constantFrom("enter", "leave", "drain", "park", "undrain", "engine", "no engine", "gone");
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { serving } = path();
      const inside: (() => void)[] = [];
      let [revision, drain, parks, gone] = [0, false, false, false];
      for (const one of steps) {
        if (one === "enter") {
          const leave = serving.enter();
          if (leave) inside.push(leave);
          if (drain) expect(leave).toBeNull();
        } else if (one === "leave") inside.pop()?.();
        else if (one === "engine") {
          gone = false;
          serving.engineParked(false);
          serving.engineChanged(engine(String(revision)));
        } else if (one === "no engine") serving.engineChanged(null);
        else if (one === "gone") {
          // Nobody ends an engine that is wanted.
          if (serving.wantsEngine) continue;
          serving.engineChanged(null);
          serving.engineParked(true);
          gone = true;
        } else {
          drain = one === "drain" || one === "park";
          parks = one === "park";
          revision += 1;
          serving.obey({ ...orders(revision, drain), park: parks });
        }
        expect(serving.report().running).toBe(inside.length);
        expect(serving.wantsEngine).toBe(!parks || inside.length > 0);
        const out = inside.length > 0 ? "DRAINING" : parks && gone ? "PARKED" : "DRAINED";
        if (drain) expect(serving.state).toBe(out);
      }
    }),
  );
});

it("knows no way from drained to serving but by joining", () => {
  expect(moveServing("DRAINED", "JOINING")).toBe("JOINING");
  expect(() => moveServing("DRAINED", "SERVING")).toThrow();
  expect(() => moveServing("DRAINING", "SERVING")).toThrow();
});
