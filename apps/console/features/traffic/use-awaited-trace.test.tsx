// @vitest-environment jsdom
import { TRACE_WAIT_MS } from "@helm/contracts";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, render } from "@testing-library/react";
import { TRPCClientError } from "@trpc/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { LOOK_EVERY_MS, useAwaitedTrace } from "./use-awaited-trace";

const ask = vi.fn();
vi.mock("../../api/trpc", () => ({
  useTRPC: () => ({
    traffic: {
      trace: {
        queryOptions: ({ id }: { id: string }, options: object) => ({
          queryKey: [id],
          queryFn: ask,
          ...options,
        }),
      },
    },
  }),
}));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  ask.mockReset();
});

/** An error as the server sends it. */
function refusal(code: string) {
  const data = { helm: { code, userMessage: "said", requestId: "request-7" } };
  return TRPCClientError.from({ error: { message: "", code: -32_603, data } } as never);
}

let seen: string;
function Probe() {
  const { trace, awaited } = useAwaitedTrace("a");
  seen = awaited ? "awaited" : trace.isError ? "missing" : trace.data ? "there" : "loading";
  return null;
}
async function open() {
  render(
    <QueryClientProvider client={new QueryClient()}>
      <Probe />
    </QueryClientProvider>,
  );
  await pass(1);
}
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

it("waits for a trace that is on its way, and shows it once it is there", async () => {
  ask.mockRejectedValueOnce(refusal("NOT_FOUND")).mockResolvedValue({ id: "a" });
  await open();
  expect(seen).toBe("awaited");
  await pass(LOOK_EVERY_MS + 1);
  expect(seen).toBe("there");
});

it("is missing once its time is over", async () => {
  ask.mockRejectedValue(refusal("NOT_FOUND"));
  await open();
  await pass(TRACE_WAIT_MS / 2);
  expect(seen).toBe("awaited");
  await pass(TRACE_WAIT_MS);
  expect(seen).toBe("missing");
  expect(ask).toHaveBeenCalledTimes(TRACE_WAIT_MS / LOOK_EVERY_MS + 1);
});

it("waits for nothing else", async () => {
  ask.mockRejectedValue(refusal("FORBIDDEN"));
  await open();
  expect(seen).toBe("missing");
  expect(ask).toHaveBeenCalledTimes(1);
});
