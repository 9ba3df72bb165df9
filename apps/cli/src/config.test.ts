import { expect, it } from "vitest";
import { readConfig } from "./config";

it("looks for leases where the state lies, unless a folder of their own is named", () => {
  expect(readConfig({}).leaseDir).toMatch(/\.helm\/leases$/);
  expect(readConfig({ HELM_STATE_DIR: "/srv/helm" }).leaseDir).toBe("/srv/helm/leases");
  expect(readConfig({ HELM_STATE_DIR: "/srv/helm", HELM_LEASE_DIR: "/run/leases" }).leaseDir).toBe(
    "/run/leases",
  );
});
