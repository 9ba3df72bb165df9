import { FallbackReason } from "@helm/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type PairState, planRequest } from "./plan-request";
import { planTransfer } from "./plan-transfer";

const reason = fc.option(fc.constantFrom(...FallbackReason.options), { nil: null });
const served = new Set(["pilot", "target"]);
const routes = (refusal: FallbackReason | null): Map<string, PairState> =>
  new Map([["helm-auto", { pilot: "pilot", target: "target", refusal }]]);

describe("planning a request", () => {
  it("never overrides an explicit model, whatever the state of Helm", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("pilot", "target"),
        reason,
        reason,
        fc.boolean(),
        (model, helmRefusal, refusal, tenantEnabled) => {
          const plan = planRequest({
            model,
            served,
            routes: routes(refusal),
            helmRefusal,
            tenantEnabled,
          });
          expect(plan).toEqual({ kind: "explicit", model });
        },
      ),
    );
  });

  it("asks the pilot only where nothing speaks against it, and otherwise names the first reason", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("helm-auto", null),
        reason,
        reason,
        fc.boolean(),
        (model, helmRefusal, refusal, tenantEnabled) => {
          const plan = planRequest({
            model,
            served,
            routes: routes(refusal),
            helmRefusal,
            tenantEnabled,
          });
          const first = helmRefusal ?? (tenantEnabled ? null : "TENANT_OFF") ?? refusal;
          if (first !== null) expect(plan).toEqual({ kind: "direct", route: "helm-auto", reason: first });
          else expect(plan).toEqual({ kind: "pilot", route: "helm-auto" });
        },
      ),
    );
  });

  it("knows no other name, and no default where there is no route", () => {
    const facts = { served, routes: routes(null), helmRefusal: null, tenantEnabled: true };
    expect(planRequest({ ...facts, model: "gpt-9" }).kind).toBe("unknown_model");
    expect(planRequest({ ...facts, model: null, routes: new Map() }).kind).toBe("unknown_model");
  });
});

describe("planning a transfer", () => {
  const open = {
    routeRefusal: null,
    tenantTransferOff: false,
    switches: 0,
    maxSwitches: 4,
    mapperReady: true,
    promptTokens: 100,
    expectedHit: { tokens: 0, mapped: false },
  };
  const facts = fc.record({
    routeRefusal: reason,
    tenantTransferOff: fc.boolean(),
    switches: fc.nat(6),
    maxSwitches: fc.nat(6),
    expectedHit: fc.record({ tokens: fc.nat(4096), mapped: fc.boolean() }),
    mapperReady: fc.boolean(),
    minTokens: fc.option(fc.nat(4096), { nil: null }),
    promptTokens: fc.nat(4096),
    wish: fc.constantFrom("auto" as const, "force" as const, "off" as const),
  });

  it("moves nothing below the node's minimum unless forced, and nothing at all where it is refused", () => {
    fc.assert(
      fc.property(facts, (given) => {
        const plan = planTransfer(given);
        if (plan.kind !== "transfer") return;
        expect(given.routeRefusal).toBeNull();
        expect(given.tenantTransferOff).toBe(false);
        expect(given.mapperReady).toBe(true);
        expect(given.switches).toBeLessThan(given.maxSwitches);
        expect(given.wish).not.toBe("off");
        if (given.wish === "auto") {
          expect(given.minTokens).not.toBeNull();
          expect(given.promptTokens - given.expectedHit.tokens).toBeGreaterThanOrEqual(
            given.minTokens ?? Number.POSITIVE_INFINITY,
          );
        }
      }),
    );
  });

  it("counts what the answering model holds already, and goes on from a mapped line rather than prefill", () => {
    const holds = (tokens: number, mapped: boolean) =>
      planTransfer({ ...open, minTokens: 100, wish: "auto", expectedHit: { tokens, mapped } });
    expect(holds(0, false).kind).toBe("transfer");
    expect(holds(1, false)).toEqual({ kind: "native", reason: "BLOCK_TOO_SMALL" });
    expect(holds(1, true)).toEqual({ kind: "continue" });
  });

  it("carries a conversation so often and no oftener, forced or not", () => {
    for (const wish of ["auto", "force"] as const) {
      expect(planTransfer({ ...open, minTokens: 1, wish, switches: 3 }).kind).toBe("transfer");
      expect(planTransfer({ ...open, minTokens: 1, wish, switches: 4 })).toEqual({
        kind: "native",
        reason: "DRIFT_LIMIT",
      });
    }
  });

  it("moves where nothing speaks against it", () => {
    expect(planTransfer({ ...open, minTokens: 100, wish: "auto" }).kind).toBe("transfer");
    expect(planTransfer({ ...open, minTokens: null, wish: "force" }).kind).toBe("transfer");
    expect(planTransfer({ ...open, minTokens: null, wish: "auto" })).toEqual({
      kind: "native",
      reason: "BLOCK_TOO_SMALL",
    });
  });
});
