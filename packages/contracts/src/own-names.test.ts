import { expect, it } from "vitest";
import { nearestName, RouteName, TENANT_NAME_RULE, TenantName } from "./own-names";

it("tells the rule with what broke it", () => {
  expect(TenantName.safeParse("Acme").error?.issues[0]?.message).toBe(TENANT_NAME_RULE);
  expect(TenantName.parse(" acme-2 ")).toBe("acme-2");
  expect(RouteName.safeParse("helm.auto_2").success).toBe(true);
});

it.each([
  ["Acme Ltd.", "acme-ltd"],
  ["Électricité", "electricite"],
  ["--a--", "a"],
  ["株式会社", null],
  ["x".repeat(80), "x".repeat(63)],
])("%s: %s would do", (given, name) => {
  expect(nearestName(given)).toBe(name);
  if (name) expect(TenantName.parse(name)).toBe(name);
});
