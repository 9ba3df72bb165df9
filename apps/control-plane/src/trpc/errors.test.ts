import { ErrorCode, HelmError } from "@helm/contracts";
import { expect, it } from "vitest";
import { z } from "zod";
import { httpStatus, toHelmError, toTrpcError } from "./errors";

it("says nothing of the inside of an error nobody foresaw", () => {
  const error = toHelmError(new Error("connect ECONNREFUSED /var/run/secret.sock"));
  expect(error.code).toBe("INTERNAL");
  expect(error.userMessage).not.toContain("secret");
  expect(toTrpcError(error).message).not.toContain("secret");
});

it("names the field that does not fit", () => {
  const { error } = z.object({ gate: z.number().max(1) }).safeParse({ gate: 2 });
  const helm = toHelmError(error);
  expect(helm).toMatchObject({ code: "BAD_REQUEST", details: { issues: [{ path: "gate" }] } });
  expect(helm.userMessage).toMatch(/^gate: /);
});

it("keeps our own errors through every layer", () => {
  for (const code of ErrorCode.options) {
    const error = new HelmError(code, "a sentence");
    expect(toHelmError(toTrpcError(error))).toBe(error);
    expect(httpStatus(code)).toBeGreaterThanOrEqual(400);
  }
});
