import { type Browser, expect, type Page, test } from "@playwright/test";
import { everyPage } from "./every-page";
import { HELM_PAGE, OPERATOR, running, sessionFile, VIEWER } from "./product";
import { open } from "./visit";

/*
 * The administrator makes an operator and a viewer through the console; each signs in with the link and sees what the
 * role may. What a page hides the server refuses: the same is asked of it with their cookies.
 */
test.describe.configure({ mode: "serial" });

const PAIR = { source: "target", target: "pilot" };

const as = async (browser: Browser, role: "admin" | "operator" | "viewer") => {
  const context = await browser.newContext({
    baseURL: running().urls.console,
    storageState: sessionFile(role),
  });
  return { context, page: await context.newPage() };
};

for (const [role, person] of [
  ["operator", OPERATOR],
  ["viewer", VIEWER],
] as const) {
  test(`an administrator adds the ${role}, who chooses a password behind the link`, async ({ browser }) => {
    const { context, page } = await as(browser, "admin");
    await page.goto("/access");
    await page.getByRole("button", { name: "Add a person" }).click();
    const dialog = page.getByRole("dialog", { name: "Add a person" });
    await dialog.getByLabel("Email").fill(person.email);
    await dialog.getByLabel("Name").fill(person.name);
    await dialog.getByLabel("Role").selectOption(role);
    await dialog.getByRole("button", { name: "Add and make the link" }).click();
    const link = (await page.getByTestId("invitation-link").textContent()) ?? "";
    await page.getByRole("button", { name: "I have copied it" }).click();
    await expect(page.getByText(link)).toHaveCount(0);
    await context.close();

    const theirs = await browser.newContext({ baseURL: running().urls.console });
    const first = await theirs.newPage();
    const { pathname, hash } = new URL(link);
    await first.goto(pathname + hash);
    await first.getByLabel("New password", { exact: true }).fill(person.password);
    await first.getByLabel("New password, once more").fill(person.password);
    await first.getByRole("button", { name: "Set the password and sign in" }).click();
    await expect(first).toHaveURL(new RegExp(`${HELM_PAGE}$`));
    await expect(first.getByRole("button", { name: `Account of ${person.email}` })).toBeVisible();
    await theirs.storageState({ path: sessionFile(role) });

    // The link works once.
    await first.goto(pathname + hash);
    await first.getByLabel("New password", { exact: true }).fill("another long enough password");
    await first.getByLabel("New password, once more").fill("another long enough password");
    await first.getByRole("button", { name: "Set the password and sign in" }).click();
    await expect(first.locator("form").getByRole("alert")).toBeVisible();
    await theirs.close();
  });
}

/** Asks the server for a change as a page of the console would, with the person's cookie. */
async function ask(page: Page, path: string, input: unknown): Promise<{ status: number; code: string }> {
  const answer = await page.request.post(`/trpc/${path}`, {
    data: { json: input },
    headers: { origin: running().urls.console },
  });
  const body = (await answer.json()) as { error?: { json?: { data?: { helm?: { code?: string } } } } };
  return { status: answer.status(), code: body.error?.json?.data?.helm?.code ?? "OK" };
}

const ADMIN_ONLY: [path: string, input: unknown][] = [
  ["setting.setHelmEnabled", { enabled: true, revision: 1 }],
  ["setting.setKillSwitch", { on: true, revision: 1 }],
  ["pair.register", { sourceModel: "pilot", targetModel: "pilot" }],
  ["mapper.activate", { id: "01a22c9b-e95d-7375-bd8e-b0ac19cf59bc" }],
  ["tenant.create", { name: "not-allowed" }],
  ["key.create", { tenantId: "01a22c9b-e95d-7375-bd8e-b0ac19cf59bc", name: "no" }],
  ["host.createJoinToken", { kind: "worker" }],
  ["person.create", { email: "eve@example.org", name: "Eve", role: "admin" }],
  ["route.update", { name: "helm-auto", window: 8, revision: 1 }],
  ["snapshot.rollback", {}],
];
const OPERATOR_TOO: [path: string, input: unknown][] = [
  ["calibration.start", { pairId: "01a22c9b-e95d-7375-bd8e-b0ac19cf59bc", device: "cpu" }],
  ["calibration.cancel", { id: "01a22c9b-e95d-7375-bd8e-b0ac19cf59bc" }],
  ["calibration.retry", { id: "01a22c9b-e95d-7375-bd8e-b0ac19cf59bc" }],
];

test("a viewer reads every page, and what changes something is out of reach with its reason", async ({
  browser,
}) => {
  test.setTimeout(300_000);
  const { context, page } = await as(browser, "viewer");
  for (const known of everyPage().filter(({ signedIn, name }) => signedIn && name !== "nothing")) {
    await open(page, known);
    await expect.soft(page.getByText("This could not be loaded"), known.name).toHaveCount(0);
    await expect.soft(page.getByText("Something on this page broke"), known.name).toHaveCount(0);
  }
  const reason = "This needs the role admin; yours is viewer.";
  await page.goto(HELM_PAGE);
  const helm = page.getByRole("switch", { name: "Helm Intelligent Routing" });
  await expect(helm).toHaveAttribute("aria-disabled", "true");
  await expect(helm).toHaveAttribute("title", reason);
  // Pressed all the same, also by a link that would open the question: nothing is asked.
  await helm.click({ force: true });
  await page.goto(`${HELM_PAGE}?do=switch`);
  await expect(page.getByRole("heading", { name: "Helm Intelligent Routing" })).toBeVisible();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  for (const [path, button] of [
    ["/pairs", "Register a pair"],
    ["/tenants", "Create a tenant"],
    ["/nodes", "Add a worker"],
    ["/access", "Add a person"],
  ] as const) {
    await page.goto(path);
    await expect(page.getByRole("button", { name: button })).toHaveAttribute("aria-disabled", "true");
  }
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("create a tenant");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog").getByText(reason).last()).toBeVisible();
  await context.close();
});

test("the server refuses a viewer what the pages hide, and everything to nobody", async ({ browser }) => {
  const { context, page } = await as(browser, "viewer");
  for (const [path, input] of [...ADMIN_ONLY, ...OPERATOR_TOO]) {
    expect.soft(await ask(page, path, input), path).toEqual({ status: 403, code: "FORBIDDEN" });
  }
  await context.close();
  const nobody = await browser.newContext({ baseURL: running().urls.console });
  const anonymous = await nobody.newPage();
  for (const [path, input] of [...ADMIN_ONLY, ...OPERATOR_TOO]) {
    expect.soft(await ask(anonymous, path, input), path).toEqual({ status: 401, code: "UNAUTHENTICATED" });
  }
  await nobody.close();
});

test("an operator calibrates and cancels, and the server refuses the rest", async ({ browser }) => {
  test.setTimeout(240_000);
  const { context, page } = await as(browser, "operator");
  await page.goto("/pairs");
  await page.getByRole("link", { name: `${PAIR.source} to ${PAIR.target}`, exact: true }).click();
  // The list has such buttons too.
  await expect(page).toHaveURL(/\/pairs\/[0-9a-f-]{36}$/);
  await page
    .getByRole("button", { name: /^Calibrate again: / })
    .first()
    .click();
  await page.getByRole("button", { name: "Start the calibration" }).click();
  await expect(page).toHaveURL(/\/calibrations\/[0-9a-f-]{36}$/);
  const state = (word: string) => page.getByRole("main").locator("header").getByText(word, { exact: true });
  await expect(state("RUNNING")).toBeVisible({ timeout: 90_000 });
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel the calibration" }).click();
  await expect(state("CANCELLED")).toBeVisible({ timeout: 90_000 });

  for (const [path, input] of ADMIN_ONLY) {
    expect.soft(await ask(page, path, input), path).toEqual({ status: 403, code: "FORBIDDEN" });
  }
  for (const [path, input] of OPERATOR_TOO) {
    const { code } = await ask(page, path, input);
    expect.soft(code, path).toBe("NOT_FOUND");
  }
  await context.close();
});

test("the audit names who did it, and its filters stand in the address", async ({ browser }) => {
  const { context, page } = await as(browser, "admin");
  await page.goto(`/audit?actor=${OPERATOR.email}&verb=calibration.cancel`);
  const row = page.getByRole("row").filter({ hasText: "cancelled a calibration" });
  await expect(row.first()).toContainText(OPERATOR.email);
  await expect(page.getByLabel("Who", { exact: true })).toHaveValue(OPERATOR.email);
  await page.getByLabel("Action", { exact: true }).selectOption("calibration.start");
  await expect(page).toHaveURL(/verb=calibration\.start/);
  await expect(page.getByRole("row").filter({ hasText: "started a calibration" }).first()).toBeVisible();
  await page.goBack();
  await expect(page.getByLabel("Action", { exact: true })).toHaveValue("calibration.cancel");

  await page.goto("/audit");
  await expect(page.getByRole("row").nth(3)).toBeVisible();
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV", exact: true }).click();
  const text = await (await (await downloading).createReadStream()).toArray();
  const lines = Buffer.concat(text).toString("utf8").trim().split("\r\n");
  const total = await countAll(page);
  expect(lines[0]).toBe("at,actor_kind,actor,verb,entity,entity_id,before,after,reason,request_id");
  // Rows may be written while it is read: never fewer than there were.
  expect(lines.length - 1).toBeGreaterThanOrEqual(total - 5);
  await context.close();
});

async function countAll(page: Page): Promise<number> {
  const input = encodeURIComponent(JSON.stringify({ json: { limit: 500 } }));
  const answer = await page.request.get(`/trpc/audit.list?input=${input}`);
  const body = (await answer.json()) as { result: { data: { json: { rows: unknown[] } } } };
  return body.result.data.json.rows.length;
}

test("a role that is taken away is gone at once, in the page and in the server", async ({ browser }) => {
  const admin = await as(browser, "admin");
  const operator = await as(browser, "operator");
  await operator.page.goto("/pairs");
  await admin.page.goto("/access");
  const make = async (role: "viewer" | "operator") => {
    await admin.page.getByLabel(`Role of ${OPERATOR.email}`).selectOption(role);
    await admin.page.getByRole("dialog").getByRole("button", { name: "Change the role" }).click();
    await expect(admin.page.getByLabel(`Role of ${OPERATOR.email}`)).toHaveValue(role);
  };
  await make("viewer");
  await expect
    .poll(() => ask(operator.page, "calibration.cancel", OPERATOR_TOO[1]?.[1]).then(({ status }) => status))
    .toBe(403);
  await make("operator");
  await admin.context.close();
  await operator.context.close();
});
