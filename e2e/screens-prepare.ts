import { writeFileSync } from "node:fs";
import { expect, type Page, test } from "@playwright/test";
import { askedTrace, firstNode, recordedLadder } from "./looked-up";
import { ADMINISTRATOR, HELM_PAGE, type Made, madeFile, running, sessionFile } from "./product";

/** An administrator, the recorded runs' pages and a tenant: what the pictures are taken of. */
test("the product is set up and the recorded runs are there", async ({ browser }) => {
  test.setTimeout(300_000);
  const page = await browser.newPage({ baseURL: running().urls.console });
  await page.goto("/setup");
  await page.getByLabel("Setup token").fill(running().setupToken);
  await page.getByLabel("Name").fill(ADMINISTRATOR.name);
  await page.getByLabel("Email").fill(ADMINISTRATOR.email);
  await page.getByLabel("Password").fill(ADMINISTRATOR.password);
  await page.getByRole("button", { name: "Create the administrator" }).click();
  await expect(page).toHaveURL(new RegExp(`${HELM_PAGE}$`));
  await page.context().storageState({ path: sessionFile() });

  const cleared = await measured(page, "pilot to target", "ELIGIBLE");
  const below = await measured(page, "target to pilot", "TRANSFER_INELIGIBLE");
  const control = await linkOf(page, "target to target");
  await page.goto("/tenants");
  await page.getByRole("button", { name: "Create a tenant" }).click();
  await page.getByLabel("Name").fill("pictures");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await expect(page).toHaveURL(/\/tenants\/[0-9a-f-]{36}$/);
  const made: Made = {
    pairId: last(cleared.pair),
    calibrationId: last(cleared.run),
    tenantId: last(page.url()),
    ladderId: await recordedLadder(page),
    nodeId: await firstNode(page),
    traceId: await askedTrace(page),
    others: [
      { name: "pair-below", path: below.pair },
      { name: "pair-control", path: control },
      { name: "calibration-below", path: below.run },
    ],
  };
  writeFileSync(madeFile(), JSON.stringify(made));
  await page.close();
});

const last = (path: string) => path.split("/").at(-1) ?? "";

async function linkOf(page: Page, name: string): Promise<string> {
  await page.goto("/pairs");
  const link = page.getByRole("link", { name, exact: true });
  await expect(link).toBeVisible({ timeout: 120_000 });
  return (await link.getAttribute("href")) ?? "";
}

/** The pair's page and its newest run's, once the pair has this status. */
async function measured(page: Page, name: string, status: string): Promise<{ pair: string; run: string }> {
  const pair = await linkOf(page, name);
  await page.goto(pair);
  await expect(async () => {
    await page.reload();
    await expect(page.getByRole("main").getByText(status, { exact: true }).first()).toBeVisible({
      timeout: 5_000,
    });
  }).toPass({ timeout: 180_000 });
  const run = page.getByRole("link", { name: /open this run$/ }).first();
  return { pair, run: (await run.getAttribute("href")) ?? "" };
}
