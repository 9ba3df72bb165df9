import { ErrorCode, HelmError } from "@helm/contracts";
import { Prisma } from "@helm/db";
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

it("lets a host try again where two transactions met, and never takes that for a lost attempt", () => {
  const deadlock = new Prisma.PrismaClientKnownRequestError("deadlock", {
    code: "P2034",
    clientVersion: "7",
  });
  const error = toHelmError(deadlock);
  expect(error.code).toBe("RACE");
  expect(httpStatus(error.code)).toBe(503);
  expect(toTrpcError(error).code).toBe("CONFLICT");
});

it("does not call text an id where the database could not hold a value", () => {
  for (const code of ["P2000", "P2007", "P2020", "P2023"]) {
    const error = toHelmError(new Prisma.PrismaClientKnownRequestError("bad", { code, clientVersion: "7" }));
    expect(error.code).toBe("BAD_REQUEST");
    expect(error.userMessage).toMatch(/id .*number .*text .*cannot be stored/);
  }
});
