import { expect, it } from "vitest";
import type { Failure } from "../../failure";
import { hasObeyed } from "./node";
import { pickByName } from "./pick";
import { isAnswered } from "./snapshot";

const hosts = [
  { id: "1", name: "a" },
  { id: "2", name: "b" },
  { id: "3", name: "b" },
];

it("finds a host by name or id, and says what there is where it cannot", () => {
  expect(pickByName(hosts, "a", "node").id).toBe("1");
  expect(pickByName(hosts, "3", "node").id).toBe("3");
  expect(() => pickByName(hosts, "b", "node")).toThrow(/2, 3/);
  expect(() => pickByName(hosts, "c", "worker")).toThrow(/no worker c. There are: a, b, b/);
  try {
    pickByName(hosts, "c", "node");
  } catch (error) {
    expect((error as Failure).exitCode).toBe(1);
  }
});

it("waits for every connected node's answer and for no other's", () => {
  const answer = { ok: true, reason: null, kept: null, at: new Date() };
  const node = (name: string, connected: boolean, answered: boolean) => ({
    id: name,
    name,
    connected,
    acked: 0,
    active: 0,
    access: 0,
    accessNackReason: null,
    answer: answered ? answer : null,
  });
  expect(isAnswered({ generation: 4, nodes: [node("a", true, false)] }, 4)).toBe(false);
  expect(isAnswered({ generation: 4, nodes: [node("a", true, true), node("b", false, false)] }, 4)).toBe(
    true,
  );
  expect(isAnswered({ generation: 5, nodes: [node("a", true, false)] }, 4)).toBe(true);
});

it("takes a node at its word only once it knows the order", () => {
  const told = (serving: object, canary = 2) =>
    ({ orders: { canary }, readiness: { serving } }) as unknown as Parameters<typeof hasObeyed>[0];
  expect(hasObeyed(told({ state: "DRAINED", orders_revision: 2 }), "drain", 3)).toBe(false);
  expect(hasObeyed(told({ state: "DRAINING", orders_revision: 3 }), "drain", 3)).toBe(false);
  expect(hasObeyed(told({ state: "DRAINED", orders_revision: 3 }), "drain", 3)).toBe(true);
  expect(hasObeyed(told({ state: "JOINING", orders_revision: 4 }), "undrain", 4)).toBe(false);
  expect(hasObeyed(told({ state: "JOINING", orders_revision: 4, canary: { ok: false } }), "undrain", 4)).toBe(
    true,
  );
  expect(hasObeyed(told({ orders_revision: 5, canary: { number: 1 } }), "canary", 5)).toBe(false);
  expect(hasObeyed(told({ orders_revision: 5, canary: { number: 2 } }), "canary", 5)).toBe(true);
});
