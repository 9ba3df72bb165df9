// @vitest-environment jsdom
import { cleanup, configure, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { TRPCClientError } from "@trpc/client";
import { type ReactNode, useState } from "react";
import { afterEach, expect, it } from "vitest";
import { z } from "zod";
import { TextField } from "../../ui/field";
import { PreferencesProvider } from "../preferences/provider";
import { EditFooter } from "./edit-footer";
import { useEditForm } from "./use-edit-form";

interface Row {
  revision: number;
  threshold: number;
  window: number;
}
const Form = z.object({
  threshold: z.coerce.number<number>(),
  window: z.coerce.number<number>().int("Whole."),
});

/** A server with one row, as changeRow keeps it: an old revision is refused with what stands. */
class Server {
  row: Row = { revision: 1, threshold: -0.1, window: 32 };
  private readonly log: { before: Row; after: Row }[] = [];
  refusal: Record<string, unknown> | null = null;

  store(values: Partial<Row>): Row {
    const before = this.row;
    this.row = { ...before, ...values, revision: before.revision + 1 };
    this.log.push({ before, after: this.row });
    return this.row;
  }

  save = async (values: Partial<Row>, revision: number): Promise<Row> => {
    if (this.refusal) throw helmError("BAD_REQUEST", this.refusal);
    if (revision === this.row.revision) return this.store(values);
    const before = this.log.find((step) => step.before.revision === revision)?.before as Row;
    const changes = (["threshold", "window"] as const)
      .filter((field) => before[field] !== this.row[field])
      .map((field) => ({ field, before: before[field], after: this.row[field] }));
    const changedAt = new Date(Date.now() - 10_000).toISOString();
    throw helmError("CONFLICT", {
      revision: this.row.revision,
      changedBy: "bo@example.org",
      changedAt,
      changes,
      current: this.row,
    });
  };
}

function helmError(code: string, details: Record<string, unknown>) {
  const helm = { code, userMessage: "said by the server", details, requestId: "r" };
  return new TRPCClientError("x", { result: { error: { code: -1, message: "x", data: { helm } } } } as never);
}

const stored: Row[] = [];

function Editor({ row, server }: { row: Row; server: Server }) {
  const edit = useEditForm({
    row,
    schema: Form,
    valuesOf: ({ threshold, window }) => ({ threshold, window }),
    save: server.save,
    onStored: (next) => stored.push(next),
    what: "the route",
    words: { labels: { threshold: "Threshold", window: "Window" } },
  });
  const { errors } = edit.form.formState;
  return (
    <form onSubmit={edit.submit} noValidate>
      <TextField label="Threshold" error={errors.threshold?.message} {...edit.form.register("threshold")} />
      <TextField label="Window" error={errors.window?.message} {...edit.form.register("window")} />
      <EditFooter edit={edit} />
    </form>
  );
}

/** The page: what the query has now is handed down, as after a refetch or a socket's hint. */
function Page({ server }: { server: Server }) {
  const [row, setRow] = useState(server.row);
  return (
    <>
      <button type="button" onClick={() => setRow({ ...server.row })}>
        refetch
      </button>
      <Editor row={row} server={server} />
    </>
  );
}

function open() {
  const server = new Server();
  stored.length = 0;
  render(<Page server={server} />, { wrapper: Preferences });
  const user = userEvent.setup();
  const field = (name: string) => screen.getByLabelText<HTMLInputElement>(name);
  const type = async (name: string, text: string) => {
    await user.clear(field(name));
    await user.type(field(name), text);
  };
  const press = (name: string) => user.click(screen.getByRole("button", { name }));
  const store = () => press("Store");
  return { server, user, field, type, press, store };
}

const Preferences = ({ children }: { children: ReactNode }) => (
  <PreferencesProvider theme="light" zone="utc">
    {children}
  </PreferencesProvider>
);
// A busy machine takes its time; nothing here is about speed.
configure({ asyncUtilTimeout: 10_000 });
afterEach(cleanup);

it("keeps what is being typed through a refetch, and follows the row while nothing was typed", async () => {
  const { server, field, type, press } = open();
  server.store({ threshold: -0.3 });
  await press("refetch");
  expect(field("Threshold").value).toBe("-0.3");
  await type("Threshold", "-0.7");
  server.store({ threshold: -0.2, window: 64 });
  await press("refetch");
  expect(field("Threshold").value).toBe("-0.7");
  expect(field("Window").value).toBe("32");
  expect(screen.getByText(/Somebody changed the route while you were typing/)).toBeTruthy();
});

it("stores nothing over another's change: says who changed what, and theirs can be kept", async () => {
  const { server, field, type, press, store } = open();
  await type("Threshold", "-0.7");
  server.store({ threshold: -0.2 });
  await store();
  const dialog = await screen.findByRole("dialog");
  expect(dialog.textContent).toMatch(/bo@example\.org changed this \d+ s ago/);
  expect(dialog.textContent).toMatch(/Threshold: -0\.1 .* -0\.2 \(you want -0\.7\)/);
  expect(server.row).toEqual({ revision: 2, threshold: -0.2, window: 32 });
  await press("Keep theirs");
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(field("Threshold").value).toBe("-0.2");
  expect(stored).toEqual([]);
  await type("Threshold", "-0.4");
  await store();
  await waitFor(() => expect(server.row).toEqual({ revision: 3, threshold: -0.4, window: 32 }));
});

it("puts over theirs only what was touched here", async () => {
  const { server, type, press, store } = open();
  await type("Threshold", "-0.7");
  server.store({ window: 64 });
  await store();
  await screen.findByRole("dialog");
  await press("Put mine over it");
  await waitFor(() => expect(server.row).toEqual({ revision: 3, threshold: -0.7, window: 64 }));
  expect(stored.at(-1)).toEqual(server.row);
  expect(screen.queryByRole("dialog")).toBeNull();
});

it("asks once more where a third change came between, and lets one look with everything typed still there", async () => {
  const { server, field, type, press, store } = open();
  await type("Threshold", "-0.7");
  server.store({ window: 64 });
  await store();
  await screen.findByRole("dialog");
  server.store({ threshold: -0.9 });
  await press("Put mine over it");
  await waitFor(() => expect(within(screen.getByRole("dialog")).getByText(/-0\.9/)).toBeTruthy());
  expect(server.row.threshold).toBe(-0.9);
  await press("Look at it first");
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(field("Threshold").value).toBe("-0.7");
  expect(screen.getByText(/What you typed is still here/)).toBeTruthy();
  await store();
  await screen.findByRole("dialog");
  expect(server.row.threshold).toBe(-0.9);
});

it("puts the server's word on a field at that field, and every other refusal under the form", async () => {
  const { server, type, store } = open();
  await type("Window", "7");
  server.refusal = { issues: [{ path: "window", message: "at least 8" }] };
  await store();
  expect(await screen.findByText("at least 8")).toBeTruthy();
  server.refusal = {};
  await store();
  expect((await screen.findByText("said by the server")).getAttribute("role")).toBe("alert");
  expect(stored).toEqual([]);
});
