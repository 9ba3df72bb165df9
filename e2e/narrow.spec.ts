import { expect, type Page, test } from "@playwright/test";
import { contextFor } from "./visit";

/** Nothing may scroll sideways at any step of the way, dialogs and menus included. */
async function fits(page: Page, where: string): Promise<void> {
  const beyond = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect.soft(beyond, where).toBe(0);
}

test("a day's work on a screen of 320 px", async ({ browser }) => {
  test.setTimeout(180_000);
  const context = await contextFor(browser, { theme: "light", width: 320 }, true);
  const page = await context.newPage();
  await page.goto("/pairs");
  await page.getByRole("button", { name: "Open the navigation" }).click();
  await fits(page, "navigation");
  await page
    .getByRole("dialog")
    .getByRole("link", { name: /^Tenants/ })
    .click();
  await expect(page).toHaveURL(/\/tenants$/);

  await page.getByRole("button", { name: "Create a tenant" }).click();
  await fits(page, "create a tenant");
  await page.getByRole("dialog").getByLabel("Name").fill("narrow");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await expect(page).toHaveURL(/\/tenants\/[0-9a-f-]{36}$/);
  await fits(page, "tenant");
  await page.getByRole("button", { name: "Create a key" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("from-a-phone");
  await page.getByRole("button", { name: "Create the key" }).click();
  await expect(page.getByTestId("new-key")).toBeVisible();
  await fits(page, "the new key");
  await page.getByRole("button", { name: "I have copied it" }).click();

  // A list in cards is sorted by a choice where a wide one has heads to press.
  await page.goto("/tenants");
  await page.getByLabel("Sorted by").selectOption("-name");
  await expect(page).toHaveURL(/sort=-name/);
  await fits(page, "tenants, sorted");

  await page.getByRole("button", { name: "Search pages, pairs and actions" }).click();
  await page.getByRole("combobox").fill("audit");
  await fits(page, "palette");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/audit/);
  await page.getByText("Details").first().click();
  await fits(page, "audit, details");

  await page.goto("/pairs");
  await page.locator("[data-row-link]").first().click();
  await expect(page).toHaveURL(/\/pairs\/[0-9a-f-]{36}$/);
  await page
    .getByRole("button", { name: /^Calibrate/ })
    .first()
    .click();
  await fits(page, "calibrate");
  await context.close();
});
