import fc from "fast-check";
import pino from "pino";
import { describe, expect, it, vi } from "vitest";
import type { ServingEngine } from "../engine/serving-engine";
import { ServingPath } from "./serving-path";
import { moveServing } from "./serving-states";

const engine = (name: string) => ({ name }) as unknown as ServingEngine;
const orders = (revision: number, drain: boolean, canary = 0) => ({ revision, drain, canary });

function path(canary: () => Promise<void> = () => Promise.resolve()) {
  const onCanary = vi.fn();
  const states: string[] = [];
  const serving: ServingPath = new ServingPath(
    { canary, onCanary, retryMs: 1 },
    pino({ level: "silent" }),
    () => states.push(serving.state),
  );
  return { serving, onCanary, states };
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
  const step = fc.constantFrom("enter", "leave", "drain", "undrain", "engine", "no engine");
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { serving } = path();
      const inside: (() => void)[] = [];
      let [revision, drain] = [0, false];
      for (const one of steps) {
        if (one === "enter") {
          const leave = serving.enter();
          if (leave) inside.push(leave);
          if (drain) expect(leave).toBeNull();
        } else if (one === "leave") inside.pop()?.();
        else if (one === "engine") serving.engineChanged(engine(String(revision)));
        else if (one === "no engine") serving.engineChanged(null);
        else {
          drain = one === "drain";
          revision += 1;
          serving.obey(orders(revision, drain));
        }
        expect(serving.report().running).toBe(inside.length);
        if (drain) expect(serving.state).toBe(inside.length > 0 ? "DRAINING" : "DRAINED");
      }
    }),
  );
});

it("knows no way from drained to serving but by joining", () => {
  expect(moveServing("DRAINED", "JOINING")).toBe("JOINING");
  expect(() => moveServing("DRAINED", "SERVING")).toThrow();
  expect(() => moveServing("DRAINING", "SERVING")).toThrow();
});
