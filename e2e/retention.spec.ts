import { expect, test } from "@playwright/test";
import { contextFor } from "./visit";

/** What the recorded and the live runs left, looked at as an operator would: overview, one pair, its runs. */
test("pairs are narrowed and sorted in the address, and every direction is drawn with a table behind", async ({
  browser,
}) => {
  const context = await contextFor(browser, { theme: "light", width: 1440 }, true);
  const page = await context.newPage();
  await page.goto("/pairs?kind=pair&sort=-retention");
  const table = page.getByRole("table", { name: /Pairs with their retention/ });
  await expect(table).toBeVisible();
  await expect(table.getByText("control", { exact: true })).toHaveCount(0);
  await page.getByLabel("Kind").selectOption("control");
  await expect(page).toHaveURL(/kind=control/);

  await page.goto("/pairs?matrix=storage");
  const card = page.getByRole("region", { name: "Every direction" });
  await expect(card.getByText(/a mapper for each of the \d+ possible/)).toBeVisible();
  await card.getByRole("button", { name: /^Table/ }).click();
  await expect(card.getByRole("columnheader", { name: "How it is known" })).toBeVisible();
  await context.close();
});

test("calibrations are filtered by the server, and the filter survives a reload", async ({ browser }) => {
  const context = await contextFor(browser, { theme: "dark", width: 1440 }, true);
  const page = await context.newPage();
  await page.goto("/calibrations");
  await page.getByLabel("State").selectOption("SUCCEEDED");
  await expect(page).toHaveURL(/state=SUCCEEDED/);
  await page.reload();
  await expect(page.getByLabel("State")).toHaveValue("SUCCEEDED");
  await expect(page.getByRole("table").getByText("SUCCEEDED", { exact: true }).first()).toBeVisible();
  await page.getByLabel("State").selectOption("LOST");
  await expect(page.getByText("No calibrations match these filters")).toBeVisible();
  await context.close();
});
