import { readFileSync } from "node:fs";
import { expect, test } from "@playwright/test";
import { HELM_PAGE, Made, madeFile } from "./product";
import { contextFor } from "./visit";

/** After the journey: there is an administrator's session, one node, and more than one generation. */
test("a rollback says what it will change, is held, and is released again", async ({ browser }) => {
  test.setTimeout(300_000);
  const context = await contextFor(browser, { theme: "light", width: 1440 }, true);
  const page = await context.newPage();
  await page.goto("/routing");
  await expect(page.getByRole("heading", { level: 1, name: "Routing configuration" })).toBeVisible();
  const inForce = page.getByRole("heading", { name: /^Generation \d+ is in force$/ });
  await expect(inForce).toBeVisible();
  const before = Number(((await inForce.textContent()) ?? "").replace(/\D/g, ""));
  expect(before).toBeGreaterThan(1);

  await page
    .getByRole("row")
    .filter({ has: page.getByRole("link", { name: String(before - 1), exact: true }) })
    .getByRole("button", { name: /^Roll back/ })
    .click();
  const question = page.getByRole("dialog", { name: `Roll back to generation ${before - 1}?` });
  await expect(question.getByRole("listitem").first()).toBeVisible();
  await question.getByLabel("Why").fill("a rehearsal");
  await question.getByRole("button", { name: "Roll back", exact: true }).click();
  await expect(question).toBeHidden();
  await expect(page.getByRole("heading", { name: `Generation ${before + 1} is in force` })).toBeVisible();
  const notice = page.getByRole("region", { name: "A rollback is held" });
  await expect(notice).toContainText("a rehearsal");
  await expect(page.getByText("1 of 1 node").first()).toBeVisible({ timeout: 30_000 });

  // What stands on the Helm page is not what nodes follow now, and it says so.
  await page.goto(HELM_PAGE);
  await expect(notice).toContainText(`Rolled back to generation ${before - 1}`);
  await page.goto("/routing");
  await expect(notice).toContainText(`Rolled back to generation ${before - 1}`);
  await expect(page.getByText(`Held at ${before - 1}`, { exact: true })).toBeVisible();
  await notice.getByRole("button", { name: "Release" }).click();
  await page
    .getByRole("dialog", { name: "Let the settings decide again?" })
    .getByRole("button", { name: "Release" })
    .click();
  await expect(notice).toBeHidden();
  await expect(page.getByRole("heading", { name: `Generation ${before + 2} is in force` })).toBeVisible();
  await expect(page.getByText(`Was held at ${before - 1}`, { exact: true })).toBeVisible();

  await page.goto(`/routing?from=${before}&to=${before + 2}`);
  await expect(page.getByText("Both say the same.")).toBeVisible();
  await context.close();
});

test("a node drains, says so, and comes back by its canary", async ({ browser }) => {
  test.setTimeout(300_000);
  const context = await contextFor(browser, { theme: "light", width: 1440 }, true);
  const page = await context.newPage();
  await page.goto("/nodes");
  await page
    .getByRole("button", { name: /^Drain/ })
    .first()
    .click();
  await page.getByRole("dialog").getByRole("button", { name: "Drain", exact: true }).click();
  await expect(page.getByText("Drained", { exact: true })).toBeVisible({ timeout: 60_000 });
  await page.getByRole("button", { name: /^Undrain/ }).click();
  await expect(page.getByText("Serving", { exact: true })).toBeVisible({ timeout: 120_000 });
  await page
    .getByRole("link", { name: /^Everything about/ })
    .first()
    .click();
  await expect(page.getByRole("heading", { name: "Memory against budget" })).toBeVisible();
  await expect(page.getByRole("table", { name: "Memory against budget" })).toContainText("MiB");
  await expect(page.getByRole("table", { name: /^What .* answered$/ })).toContainText("Acked");
  await context.close();
});

test("a calibration that drains says what it reaches, parks the node, and a cancel brings it back", async ({
  browser,
}) => {
  test.setTimeout(300_000);
  const context = await contextFor(browser, { theme: "light", width: 1440 }, true);
  const page = await context.newPage();
  const { pairId } = Made.parse(JSON.parse(readFileSync(madeFile(), "utf8")));
  await page.goto(`/pairs/${pairId}`);
  await page.getByRole("button", { name: /^Calibrate again/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("After a drain").check();
  await expect(dialog.getByText(/ drains the node /)).toBeVisible();
  await expect(dialog.getByText(/^No other node serves/)).toBeVisible();
  await dialog.getByLabel("Take them out of service meanwhile").check();
  await dialog.getByRole("button", { name: "Start the calibration" }).click();
  await expect(page).toHaveURL(/\/calibrations\/[0-9a-f-]{36}$/);
  await expect(page.getByRole("definition").filter({ hasText: "After a drain" })).toBeVisible();
  const run = page.url();

  await page.goto("/nodes");
  await expect(page.getByText("Parked", { exact: true })).toBeVisible({ timeout: 90_000 });
  await page.getByRole("link", { name: "a calibration", exact: true }).click();
  await expect(page).toHaveURL(run);
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel the calibration" }).click();
  await expect(page.getByText("CANCELLED", { exact: true }).first()).toBeVisible({ timeout: 60_000 });
  await page.goto("/nodes");
  await expect(page.getByText("Serving", { exact: true })).toBeVisible({ timeout: 120_000 });
  // Its new engine has loaded the mapper again: the tests after this one carry caches.
  await expect(page.getByText("READY", { exact: true }).first()).toBeVisible({ timeout: 120_000 });
  await context.close();
});
