// @vitest-environment jsdom
import { act, cleanup, configure, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { TRPCClientError } from "@trpc/client";
import { type ReactNode, useState } from "react";
import { afterEach, expect, it } from "vitest";
import { Switch } from "../../ui/switch";
import { Toasts } from "../../ui/toasts";
import { PreferencesProvider } from "../preferences/provider";
import { useToggle } from "./use-toggle";

interface Row {
  revision: number;
  on: boolean;
}

function Page({ store }: { store: (on: boolean, revision: number) => Promise<Row> }) {
  const [row, setRow] = useState<Row>({ revision: 1, on: false });
  const toggle = useToggle<Row>({
    what: "the settings",
    words: { labels: { on: "Helm" } },
    isOn: (found) => found.on,
    store,
    show: (on) => {
      setRow({ ...row, on });
      return () => setRow(row);
    },
    settle: (found) => found && setRow(found),
    stored: (found) => ({
      title: `Helm is ${found.on ? "on" : "off"}`,
      detail: `Stored as revision ${found.revision}.`,
    }),
    failed: "Helm was not switched",
  });
  return (
    <>
      <Switch checked={row.on} label="Helm" onChange={(on) => void toggle.change(on, row.revision)} />
      {toggle.dialog}
      <Toasts />
    </>
  );
}

const helmError = (code: string, details: object) =>
  new TRPCClientError("x", {
    result: { error: { code: -1, message: "x", data: { helm: { code, userMessage: "no", details } } } },
  } as never);
const clash = (current: Row) =>
  helmError("CONFLICT", {
    revision: current.revision,
    changedBy: "bo@example.org",
    changedAt: new Date().toISOString(),
    changes: [{ field: "on", before: false, after: current.on }],
    current,
  });
const state = () => screen.getByRole("switch", { hidden: true }).getAttribute("aria-checked");

const Preferences = ({ children }: { children: ReactNode }) => (
  <PreferencesProvider theme="light" zone="utc">
    {children}
  </PreferencesProvider>
);
// A busy machine takes its time; nothing here is about speed.
configure({ asyncUtilTimeout: 10_000 });
afterEach(cleanup);

it("shows the new state before the answer, goes back on an error and says so", async () => {
  let fail: (error: unknown) => void = () => undefined;
  render(<Page store={() => new Promise((_, reject) => (fail = reject))} />, { wrapper: Preferences });
  await userEvent.click(screen.getByRole("switch"));
  expect(state()).toBe("true");
  await act(async () => fail(helmError("FORBIDDEN", {})));
  expect(state()).toBe("false");
  expect(await screen.findByText("Helm was not switched")).toBeTruthy();
});

it("says what was stored by the stored row, not by what was asked", async () => {
  render(<Page store={async () => ({ revision: 9, on: true })} />, { wrapper: Preferences });
  await userEvent.click(screen.getByRole("switch"));
  expect(await screen.findByText("Stored as revision 9.")).toBeTruthy();
});

it("tells who did the same already instead of asking", async () => {
  render(<Page store={() => Promise.reject(clash({ revision: 4, on: true }))} />, { wrapper: Preferences });
  await userEvent.click(screen.getByRole("switch"));
  expect(await screen.findByText(/bo@example\.org did that already; it stands as revision 4/)).toBeTruthy();
  expect(state()).toBe("true");
});

it("asks where another change came between, and puts mine over the newest revision", async () => {
  const asked: number[] = [];
  const store = async (on: boolean, revision: number) => {
    asked.push(revision);
    if (revision < 4) throw clash({ revision: 4, on: false });
    return { revision: 5, on };
  };
  render(<Page store={store} />, { wrapper: Preferences });
  await userEvent.click(screen.getByRole("switch"));
  await screen.findByRole("dialog");
  expect(state()).toBe("false");
  await userEvent.click(screen.getByRole("button", { name: "Put mine over it" }));
  await waitFor(() => expect(state()).toBe("true"));
  expect(asked).toEqual([1, 4]);
});
