import { writeFileSync } from "node:fs";
import { expect, type Page, test } from "@playwright/test";
import OpenAI from "openai";
import { type CuttableSocket, cuttableSocket } from "./cuttable-socket";
import { askedTrace, firstNode, recordedLadder } from "./looked-up";
import { ADMINISTRATOR, HELM_PAGE, type Made, madeFile, running, sessionFile } from "./product";

const CALIBRATION_MS = 20 * 60_000;

/** A pair whose measured outcome is not known beforehand: whatever the run says, the pages must say the same. */
const PAIR = { source: "pilot", target: "target" };

test.describe.configure({ mode: "serial" });

let page: Page;
let socket: CuttableSocket;
const made: Partial<Made> = {};
let key = "";

test.beforeAll(async ({ browser }) => {
  page = await browser.newPage({ baseURL: running().urls.console });
  socket = await cuttableSocket(page);
});
test.afterAll(() => page.close());

test("the first visit leads to setup, and the printed token makes the administrator", async () => {
  await page.goto("/");
  await expect(page).toHaveURL(/\/setup$/);
  await page.getByLabel("Setup token").fill("not-the-token-that-was-printed");
  await page.getByLabel("Name").fill(ADMINISTRATOR.name);
  await page.getByLabel("Email").fill(ADMINISTRATOR.email);
  await page.getByLabel("Password").fill(ADMINISTRATOR.password);
  await page.getByRole("button", { name: "Create the administrator" }).click();
  await expect(page.getByRole("alert").filter({ hasText: "setup token" })).toBeVisible();

  await page.getByLabel("Setup token").fill(running().setupToken);
  await page.getByRole("button", { name: "Create the administrator" }).click();
  await expect(page).toHaveURL(new RegExp(`${HELM_PAGE}$`));
  await page.context().storageState({ path: sessionFile() });
});

test("Helm is off, and the bundled pairs are there and not calibrated", async () => {
  await expect(page.getByRole("heading", { name: "Helm is off" })).toBeVisible();
  await expect(page.getByRole("switch", { name: "Helm Intelligent Routing" })).not.toBeChecked();
  await expect(page.getByText("What turning it on would change")).toBeVisible();
  await expect(rowOf(PAIR.source, PAIR.target)).toContainText("NOT_CALIBRATED");
});

test("a calibration is watched live, and a reload in its middle changes nothing", async () => {
  test.setTimeout(CALIBRATION_MS);
  await page.getByRole("button", { name: `Calibrate: ${PAIR.source} to ${PAIR.target}` }).click();
  await page.getByRole("button", { name: "Start the calibration" }).click();
  await expect(page).toHaveURL(/\/calibrations\/[0-9a-f-]{36}$/);
  made.calibrationId = page.url().split("/").at(-1);

  await expect(state("RUNNING")).toBeVisible({ timeout: 60_000 });
  await expect(page.getByText("live", { exact: true })).toBeVisible();
  await expect.poll(shownPercent, { timeout: CALIBRATION_MS }).toBeGreaterThan(0);

  const before = await shownPercent();
  await page.reload();
  await expect(state("RUNNING").or(state("SUCCEEDED"))).toBeVisible();
  await expect.poll(shownPercent).toBeGreaterThanOrEqual(before);
  await expect(page.getByText("live", { exact: true }).or(state("SUCCEEDED"))).toBeVisible();

  if (await state("RUNNING").isVisible()) {
    await socket.cut();
    await expect(page.getByText(/^reconnecting, last update .* ago$/).or(state("SUCCEEDED"))).toBeVisible();
    await socket.mend();
    await expect(page.getByText("live", { exact: true }).or(state("SUCCEEDED"))).toBeVisible();
  }

  await expect(state("SUCCEEDED")).toBeVisible({ timeout: CALIBRATION_MS });
  expect(await shownPercent()).toBe(100);
  await expect(page.getByRole("heading", { name: "Where this mapper stands" })).toBeVisible();
});

test("the verdict stands on the run, the pair and the Helm page alike", async () => {
  const verdict = await page
    .getByText(/^(CLEARED|BELOW_GATE)$/)
    .first()
    .textContent();
  const status = verdict === "CLEARED" ? "ELIGIBLE" : "TRANSFER_INELIGIBLE";
  await page.getByRole("link", { name: "Open the pair" }).click();
  await expect(page).toHaveURL(/\/pairs\/[0-9a-f-]{36}$/);
  made.pairId = page.url().split("/").at(-1);
  await expect(page.getByRole("main").getByText(status, { exact: true }).first()).toBeVisible();
  await page.getByRole("button", { name: "Table of Where this mapper stands" }).click();
  await expect(page.getByRole("rowheader", { name: /identity/ })).toBeVisible();

  await page.getByRole("link", { name: "Performance & Routing" }).click();
  await expect(rowOf(PAIR.source, PAIR.target)).toContainText(status);
});

test("the switch asks, is stored, and says which revision was stored", async () => {
  await page.getByRole("switch", { name: "Helm Intelligent Routing" }).click();
  const question = page.getByRole("dialog", { name: "Turn Helm on?" });
  await question.getByRole("button", { name: "Turn on" }).click();
  await expect(page.getByText(/Stored as revision \d+/)).toBeVisible();
  await page.reload();
  await expect(page.getByRole("heading", { name: "Helm is on" })).toBeVisible();
  await expect(page.getByRole("switch", { name: "Helm Intelligent Routing" })).toBeChecked();
});

test("a tenant is enabled and gets a key that is shown once", async () => {
  // The link's name ends with how many there are, once that is known.
  await page
    .getByRole("navigation", { name: "Console" })
    .getByRole("link", { name: /^Tenants/ })
    .click();
  await page.getByRole("button", { name: "Create a tenant" }).click();
  await page.getByLabel("Name").fill("journey");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await expect(page).toHaveURL(/\/tenants\/[0-9a-f-]{36}$/);
  made.tenantId = page.url().split("/").at(-1);

  await page.getByRole("switch", { name: "Helm for journey" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Enable" }).click();
  await expect(page.getByText("journey is enabled")).toBeVisible();

  await page.getByRole("button", { name: "Create a key" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("first");
  await page.getByRole("button", { name: "Create the key" }).click();
  key = (await page.getByTestId("new-key").textContent()) ?? "";
  expect(key).toMatch(/^hlm_[^_]{8}_.{40,}$/);
  await page.getByRole("button", { name: "I have copied it" }).click();
  await expect(page.getByText(key)).toHaveCount(0);
  await expect(page.getByText(`${key.slice(0, 12)}_...`)).toBeVisible();
  made.ladderId = await recordedLadder(page);
  made.nodeId = await firstNode(page);
});

test("the node follows, and a request is escalated with the pilot's cache", async () => {
  test.setTimeout(420_000);
  const client = new OpenAI({ apiKey: key, baseURL: `${running().urls.gateway}/v1`, maxRetries: 0 });
  await expect.poll(() => knows(client), { timeout: 60_000 }).toBe(true);

  await page.getByRole("link", { name: "Nodes and workers" }).click();
  const eligible = page.getByRole("listitem").filter({ hasText: `${PAIR.source} to ${PAIR.target}` });
  await expect(eligible.getByText("READY", { exact: true })).toBeVisible({ timeout: 120_000 });

  // Where a transfer never pays on this machine the canary says so; `force` carries the cache all the same.
  const { data, response } = await client
    .post("/helm/escalate", {
      body: { messages: [{ role: "user", content: PROMPT }], max_tokens: 16, helm: { transfer: "force" } },
    })
    .withResponse();
  expect(response.headers.get("x-helm-decision")).toBe("escalated");
  expect(response.headers.get("x-helm-transfer")).toBe("transferred");
  expect(response.headers.get("x-helm-served-by")).toBe(PAIR.target);
  expect(data).toMatchObject({ model: PAIR.target, helm: { transfer: "transferred" } });
  made.traceId = await askedTrace(page);
  writeFileSync(madeFile(), JSON.stringify(made));
});

const PROMPT = `${"The store keeps a list of names and of the numbers that belong to them. ".repeat(6)}Sort: 7 3 9 1`;

async function knows(client: OpenAI): Promise<boolean> {
  return client.models.list().then(
    () => true,
    () => false,
  );
}

function rowOf(source: string, target: string) {
  return page
    .getByRole("row")
    .filter({ has: page.getByRole("link", { name: `${source} to ${target}`, exact: true }) });
}

function state(word: string) {
  return page.getByRole("main").locator("header").getByText(word, { exact: true });
}

async function shownPercent(): Promise<number> {
  return Number.parseInt((await page.getByTestId("percent").textContent()) ?? "", 10);
}
