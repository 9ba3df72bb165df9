// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { TRPCClientError } from "@trpc/client";
import { afterEach, expect, it, vi } from "vitest";
import { QueryView } from "./query-view";

afterEach(cleanup);

/** An error as the server sends it. */
function refusal(code: string, userMessage: string) {
  const shape = {
    message: userMessage,
    code: -32_603,
    data: { helm: { code, userMessage, requestId: "request-7" } },
  };
  return TRPCClientError.from({ error: shape } as never);
}
const asked = { data: undefined as string | undefined, error: null as unknown, isError: false };
const refetch = vi.fn();

function show(answer: Partial<typeof asked>, back?: { href: string; name: string }) {
  const query = { ...asked, ...answer, refetch };
  render(
    <QueryView query={query} label="Loading pairs" back={back}>
      {(data) => <p>{data}</p>}
    </QueryView>,
  );
  return document.body.textContent ?? "";
}

it("loading is announced", () => {
  show({});
  expect(screen.getByRole("status").textContent).toContain("Loading pairs");
});

it("a failure is an alert with the request's id and a way to ask again", () => {
  expect(show({ isError: true, error: refusal("INTERNAL", "It broke.") })).toContain("request-7");
  expect(screen.getByRole("alert").textContent).toContain("It broke.");
  screen.getByRole("button", { name: "Try again" }).click();
  expect(refetch).toHaveBeenCalledTimes(1);
});

it("what is forbidden is no failure: it says why, and asking again is not offered", () => {
  const text = show({ isError: true, error: refusal("FORBIDDEN", "Only an admin may.") });
  expect(text).toContain("Your role does not reach this");
  expect(text).toContain("Only an admin may.");
  expect(screen.queryByRole("alert")).toBeNull();
  expect(screen.queryByRole("button")).toBeNull();
});

it("what is not there leads back", () => {
  show(
    { isError: true, error: refusal("NOT_FOUND", "There is no such pair.") },
    { href: "/pairs", name: "Pairs" },
  );
  expect(screen.getByRole("link", { name: "Pairs" }).getAttribute("href")).toBe("/pairs");
});

it("an address that names nothing leads back as well, and is not asked for again", () => {
  const bad = { isError: true, error: refusal("BAD_REQUEST", "id: Invalid UUID") };
  expect(show(bad, { href: "/pairs", name: "Pairs" })).not.toContain("UUID");
  expect(screen.getByRole("link", { name: "Pairs" }).getAttribute("href")).toBe("/pairs");
  expect(screen.queryByRole("button")).toBeNull();
});

it("what is on screen stays while it is asked again, a failure included", () => {
  expect(show({ data: "rows", isError: true, error: refusal("INTERNAL", "It broke.") })).toBe("rows");
});
