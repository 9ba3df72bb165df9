import { expect, type Page, test } from "@playwright/test";
import { leaveOpen, refuseAll } from "./answers";
import { everyPage } from "./every-page";
import { contextFor, type Look } from "./visit";

const LONG = 600_000;
const look: Look = { theme: "light", width: 1280 };

/** Pages that ask the server for something; the others say what they have to say without it. */
const asking = () =>
  everyPage().filter(({ name, signedIn }) => signedIn && !["nothing", "account"].includes(name));

async function onEvery(
  browser: Parameters<typeof contextFor>[0],
  prepare: (page: Page) => Promise<void>,
  check: (page: Page, name: string) => Promise<void>,
) {
  const context = await contextFor(browser, look, true);
  const page = await context.newPage();
  const broken: string[] = [];
  page.on("pageerror", (error) => broken.push(error.message));
  await prepare(page);
  for (const { name, path } of asking()) {
    await page.goto(path, { waitUntil: "domcontentloaded" });
    await check(page, name);
  }
  expect(broken).toEqual([]);
  await context.close();
}

test("every page says that it could not load, with the request's id and a way to try again", async ({
  browser,
}) => {
  test.setTimeout(LONG);
  const refusal = { status: 500, code: "INTERNAL", message: "The test refused this." };
  await onEvery(
    browser,
    (page) => refuseAll(page, refusal),
    async (page, name) => {
      const alert = page.getByRole("alert").filter({ hasText: "This could not be loaded" }).first();
      await expect.soft(alert, name).toContainText("made-by-the-test");
      await expect.soft(alert.getByRole("button", { name: "Try again" }), name).toBeVisible();
    },
  );
});

test("every page tells what is forbidden from what failed", async ({ browser }) => {
  test.setTimeout(LONG);
  const refusal = { status: 403, code: "FORBIDDEN", message: "The test's role does not reach this." };
  await onEvery(
    browser,
    (page) => refuseAll(page, refusal),
    async (page, name) => {
      await expect.soft(page.getByText("Your role does not reach this").first(), name).toBeVisible();
      await expect.soft(page.getByText("This could not be loaded"), name).toHaveCount(0);
    },
  );
});

test("every page says that it is loading while nothing has answered", async ({ browser }) => {
  test.setTimeout(LONG);
  await onEvery(browser, leaveOpen, async (page, name) => {
    const loading = page
      .getByRole("status")
      .filter({ hasText: /Loading/ })
      .first();
    await expect.soft(loading, name).toBeAttached();
    await expect.soft(page.getByText("This could not be loaded"), name).toHaveCount(0);
  });
});
