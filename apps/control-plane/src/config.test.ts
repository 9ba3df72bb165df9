import { expect, it } from "vitest";
import { readConfig } from "./config";

const given = { DATABASE_URL: "postgresql://a@127.0.0.1/b", HELM_AUTH_SECRET: "s".repeat(32) };

it("goes beyond loopback only behind TLS", () => {
  expect(readConfig(given).bind).toBe("127.0.0.1");
  expect(() => readConfig({ ...given, HELM_BIND: "0.0.0.0" })).toThrow(/TLS/);
  expect(() => readConfig({ ...given, HELM_PUBLIC_URL: "http://helm.example" })).toThrow(/https/);
  const open = { ...given, HELM_BIND: "0.0.0.0", HELM_PUBLIC_URL: "https://helm.example" };
  expect(readConfig(open).secureCookies).toBe(true);
});

it("names the variable that cannot be used", () => {
  expect(() => readConfig({ ...given, HELM_DRAIN_MS: "2m" })).toThrow('HELM_DRAIN_MS: "2m" is no number.');
  expect(() => readConfig({ ...given, HELM_DRAIN_MS: "5" })).toThrow(/^HELM_DRAIN_MS: .*500/);
  expect(() => readConfig({ ...given, HELM_LOG_LEVEL: "loud" })).toThrow(/^HELM_LOG_LEVEL: /);
  expect(() => readConfig({ HELM_AUTH_SECRET: given.HELM_AUTH_SECRET })).toThrow(/^DATABASE_URL is not set/);
});
