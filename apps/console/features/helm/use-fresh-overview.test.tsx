// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { useFreshOverview } from "./use-fresh-overview";

const ask = vi.fn();
vi.mock("../../api/trpc", () => ({
  useTRPC: () => ({
    overview: {
      helm: {
        queryOptions: () => ({ queryKey: ["overview"], queryFn: ask, retry: false, staleTime: 60_000 }),
      },
    },
  }),
}));

afterEach(() => {
  cleanup();
  ask.mockReset();
});

function Probe({ asking }: { asking: boolean }) {
  return <p>{useFreshOverview(asking) ? "fresh" : "not yet"}</p>;
}

function show() {
  const client = new QueryClient();
  // What the page read a moment ago: fresh enough to be drawn, and not to be decided on.
  client.setQueryData(["overview"], { at: "before" });
  const page = (asking: boolean) => (
    <QueryClientProvider client={client}>
      <Probe asking={asking} />
    </QueryClientProvider>
  );
  const { rerender } = render(page(false));
  return (asking: boolean) => rerender(page(asking));
}
const said = () => screen.getByText(/fresh|not yet/).textContent;

it("asks anew when the question opens, and is fresh once that is answered", async () => {
  const open = show();
  expect([said(), ask.mock.calls.length]).toEqual(["not yet", 0]);
  let answer = (_: object) => {};
  ask.mockReturnValueOnce(
    new Promise<object>((resolve) => {
      answer = resolve;
    }),
  );
  open(true);
  await waitFor(() => expect(ask).toHaveBeenCalledTimes(1));
  expect(said()).toBe("not yet");
  answer({ at: "now" });
  await waitFor(() => expect(said()).toBe("fresh"));
});

it("asks again for the next question, and goes by what is known where that fails", async () => {
  const open = show();
  ask.mockResolvedValueOnce({ at: "now" });
  open(true);
  await waitFor(() => expect(said()).toBe("fresh"));
  open(false);
  await waitFor(() => expect(said()).toBe("not yet"));
  ask.mockRejectedValueOnce(new Error("away"));
  open(true);
  await waitFor(() => expect(said()).toBe("fresh"));
  expect(ask).toHaveBeenCalledTimes(2);
});
