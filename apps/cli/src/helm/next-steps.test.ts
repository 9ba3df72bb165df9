import { expect, it, vi } from "vitest";
import { lifeboat } from "../testing";
import { useOfKey } from "./key";
import { nextSteps } from "./setting";

// Each run is a whole process.
vi.setConfig({ testTimeout: 120_000 });

const overview = {
  killSwitch: false,
  pairs: { eligible: 1, total: 2 },
  tenants: { enabled: 1, total: 1, names: ["acme"] },
  route: { name: "helm-auto" },
} as Parameters<typeof nextSteps>[0];

it("after the switch says what is routed, or everything that is still missing with its command", () => {
  expect(nextSteps(overview)).toEqual(["Requests of acme that ask for helm-auto are routed now."]);
  const missing = nextSteps({
    ...overview,
    pairs: { eligible: 0, total: 2 },
    tenants: { enabled: 0, total: 1, names: [] },
  });
  expect(missing[0]).toBe("Nothing is routed yet.");
  expect(missing.join("\n")).toMatch(/calibration start[\s\S]*tenant enable/);
});

it("after a key says where it is sent, without repeating it, and that its tenant is excluded", () => {
  const said = useOfKey({ gateway: "http://127.0.0.1:8000", model: "helm-auto", excluded: "acme" });
  expect(said[0]).toContain("curl http://127.0.0.1:8000/v1/chat/completions");
  expect(said[0]).toContain('"model": "helm-auto"');
  expect(said[1]).toContain("lifeboat helm tenant enable acme");
  expect(useOfKey({ gateway: null, model: null, excluded: null })).toEqual([
    expect.stringContaining("lifeboat helm node list"),
  ]);
});

it("tells who misses a name's rule what would do, and where a first word is", async () => {
  const created = await lifeboat(["helm", "tenant", "create", "Acme Ltd."]);
  expect(created.code).toBe(2);
  expect(created.stderr).toContain("Lower-case letters, digits and dashes, at most 63. acme-ltd would do.");
  const who = await lifeboat(["helm", "whoami", "--json"]);
  expect(who.code).toBe(2);
  expect(who.stderr).toContain("lifeboat whoami");
});
