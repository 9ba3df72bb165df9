import { expect, it } from "vitest";
import { readConfig } from "../environment";
import { budgetOptions } from "./engine-budgets";

const read = (environment: Record<string, string>) => readConfig(environment).engineBudgets;

it("takes one number for all caches, or one for each model", () => {
  expect(read({ HELM_ENGINE_KV_BYTES: "1000" }).kv).toBe(1000);
  const apart = read({ HELM_ENGINE_KV_BYTES: "pilot=1000, target=2000", HELM_ENGINE_MAPPER_HOST_BYTES: "5" });
  expect(budgetOptions(apart)).toEqual([
    "--kv-budget-bytes",
    "pilot=1000",
    "--kv-budget-bytes",
    "target=2000",
    "--mapper-host-budget-bytes",
    "5",
  ]);
  expect(budgetOptions(read({}))).toEqual([]);
});

it.each(["0", "-5", "many", "1e9", "pilot=", "pilot=0", "=5", "pilot=5,pilot=6", "pilot=5,7"])(
  "refuses %j and names the variable",
  (text) => {
    expect(() => read({ HELM_ENGINE_KV_BYTES: text })).toThrow(/HELM_ENGINE_KV_BYTES/);
  },
);

it("names a model that is not served, and those that are", () => {
  expect(() => read({ HELM_ENGINE_KV_BYTES: "pilto=5" })).toThrow(
    /"pilto" is served here; those are pilot, target/,
  );
});
