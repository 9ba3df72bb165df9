import { TRPCClientError } from "@trpc/client";
import { expect, it, vi } from "vitest";
import { awaitTrace, sayWait } from "./await-trace";

/** An error as the server sends it. */
function refusal(code: string) {
  const data = { helm: { code, userMessage: "Said by the server.", requestId: "request-7" } };
  return TRPCClientError.from({ error: { message: "", code: -32_603, data } } as never);
}
const fast = { everyMs: 1, longestMs: 3 };

it("looks again until the trace is there", async () => {
  const ask = vi.fn().mockRejectedValueOnce(refusal("NOT_FOUND")).mockRejectedValueOnce(refusal("NOT_FOUND"));
  ask.mockResolvedValue("the trace");
  expect(await awaitTrace(ask, fast)).toBe("the trace");
  expect(ask).toHaveBeenCalledTimes(3);
});

it("gives up after its bound, and at once on whatever waiting does not mend", async () => {
  const never = vi.fn().mockRejectedValue(refusal("NOT_FOUND"));
  await expect(awaitTrace(never, fast)).rejects.toThrow();
  expect(never).toHaveBeenCalledTimes(4);
  const forbidden = vi.fn().mockRejectedValue(refusal("FORBIDDEN"));
  await expect(awaitTrace(forbidden, fast)).rejects.toThrow();
  expect(forbidden).toHaveBeenCalledTimes(1);
});

it("says --wait to who did not wait, and nothing of it about another trouble", () => {
  expect(() => sayWait(refusal("NOT_FOUND"))).toThrow(/Said by the server. Add --wait/);
  expect(() => sayWait(refusal("FORBIDDEN"))).not.toThrow(/--wait/);
});
