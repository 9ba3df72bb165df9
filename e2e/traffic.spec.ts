import { expect, test } from "@playwright/test";
import { askedTrace } from "./looked-up";
import { running, sessionFile } from "./product";

/** Asked in the playground, counted in Traffic, opened as a trace: one request through all of it. */
test("a question is answered three ways, and its trace tells where the time went", async ({ browser }) => {
  test.setTimeout(300_000);
  const context = await browser.newContext({
    baseURL: running().urls.console,
    storageState: sessionFile(),
  });
  const page = await context.newPage();
  const id = await askedTrace(page);
  await expect(page.getByRole("heading", { level: 1 })).toContainText(id);
  await expect(page.getByText("it was asked in the playground")).toBeVisible();
  await page.getByRole("button", { name: "Table of Where the time went" }).click();
  await expect(page.getByRole("region", { name: "Legs and steps" }).getByRole("row")).not.toHaveCount(1);

  await page.goto("/traffic?hours=1&tenant=playground");
  await expect(page.getByRole("heading", { name: "Who answered" })).toBeVisible();
  await expect(page.getByLabel("Tenant", { exact: true })).toHaveValue("playground");
  await page.getByLabel("Sent because", { exact: true }).selectOption("asked");
  await expect(page).toHaveURL(/kept=asked/);
  const list = page.getByRole("table", { name: "Sampled requests, newest first" });
  await expect(list.locator(`a[href="/traffic/${id}"]`)).toBeVisible();
  await page.getByLabel("Decision", { exact: true }).selectOption("refused");
  // Nothing that was turned away was carried across.
  await page.getByLabel("Transfer", { exact: true }).selectOption("transferred");
  await expect(page.getByText("No requests match these filters")).toBeVisible();
  await page.reload();
  await expect(page.getByLabel("Decision", { exact: true })).toHaveValue("refused");
  await page.getByRole("button", { name: "Clear filters" }).first().click();
  await list.locator(`a[href="/traffic/${id}"]`).click();
  await expect(page).toHaveURL(new RegExp(`/traffic/${id}$`));
  await context.close();
});

test("a question whose prompt is missing is not asked, and nothing typed is lost", async ({ browser }) => {
  const context = await browser.newContext({
    baseURL: running().urls.console,
    storageState: sessionFile(),
  });
  const page = await context.newPage();
  await page.goto("/playground");
  await page.getByLabel("System message").fill("Be brief.");
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await expect(page.getByText("Write a prompt.")).toBeVisible();
  await expect(page.getByLabel("System message")).toHaveValue("Be brief.");
  await context.close();
});
