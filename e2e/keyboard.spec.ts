import { expect, type Locator, type Page, test } from "@playwright/test";
import { ADMINISTRATOR, HELM_PAGE, running } from "./product";

/*
 * One run from signing in to a new key without a mouse: only keys are pressed here, and what has the focus is what a
 * person would see to have it.
 */
const LONG_WAY = 120;

/** Goes on with Tab until this has the focus, and proves that the focus can be seen. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.first().waitFor();
  for (let steps = 0; steps < LONG_WAY; steps += 1) {
    if (await target.first().evaluate((element) => element === document.activeElement)) {
      const ring = await target.first().evaluate((element) => {
        const { outlineStyle, outlineWidth } = getComputedStyle(element);
        return outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2;
      });
      expect(ring, `the focus on ${target} can be seen`).toBe(true);
      return;
    }
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab never came to ${target}`);
}

async function palette(page: Page, words: string): Promise<void> {
  await expect(async () => {
    await page.keyboard.press("Control+k");
    await expect(page.getByRole("combobox")).toBeFocused({ timeout: 2_000 });
  }).toPass();
  await page.keyboard.type(words);
  await expect(page.getByRole("option", { selected: true })).toContainText(new RegExp(words, "i"));
  await page.keyboard.press("Enter");
}

test("sign in, choose a pair, calibrate, watch, cancel, switch and make a key by keyboard alone", async ({
  browser,
}) => {
  test.setTimeout(300_000);
  const context = await browser.newContext({ baseURL: running().urls.console, reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto("/sign-in");
  // Enter does nothing before the page's script runs.
  await expect(page.getByRole("button", { name: "Sign in" })).toBeEnabled();
  await tabTo(page, page.getByLabel("Email"));
  await page.keyboard.type(ADMINISTRATOR.email);
  await page.keyboard.press("Tab");
  await page.keyboard.type(ADMINISTRATOR.password);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`${HELM_PAGE}$`));

  // The first stop of a page leads past its navigation.
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "To the page's content" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.locator("#page")).toBeFocused();

  // A pair by the arrow keys of the list.
  await palette(page, "Pairs");
  await expect(page).toHaveURL(/\/pairs$/);
  const first = page.locator("[data-row-link]").first();
  await tabTo(page, first);
  await page.keyboard.press("End");
  await expect(page.locator("[data-row-link]").last()).toBeFocused();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await expect(page.locator("[data-row-link]").nth(1)).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/pairs\/[0-9a-f-]{36}/);

  // Calibrate, watch it run, and cancel it.
  await tabTo(page, page.getByRole("button", { name: /^Calibrate/ }));
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog", { name: /^Calibrate / })).toBeVisible();
  await tabTo(page, page.getByRole("button", { name: "Start the calibration" }));
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/calibrations\/[0-9a-f-]{36}$/);
  const state = (word: string) => page.getByRole("main").locator("header").getByText(word, { exact: true });
  await expect(state("RUNNING")).toBeVisible({ timeout: 90_000 });
  await tabTo(page, page.getByRole("button", { name: "Cancel", exact: true }));
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByRole("button", { name: "Cancel the calibration" }));
  await page.keyboard.press("Enter");
  await expect(state("CANCELLED")).toBeVisible({ timeout: 90_000 });

  // The switch: asked, stored, and turned back.
  await page.goto(HELM_PAGE);
  const isOn = await page.getByRole("switch", { name: "Helm Intelligent Routing" }).isChecked();
  for (const turn of isOn ? ["off", "on"] : ["on", "off"]) {
    await palette(page, `Turn Helm ${turn}`);
    await tabTo(page, page.getByRole("dialog").getByRole("button", { name: `Turn ${turn}` }));
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { name: `Helm is ${turn}` })).toBeVisible();
  }

  // A key for a tenant, shown once, and the focus comes back to where it was.
  await palette(page, "Tenants");
  await tabTo(page, page.locator("[data-row-link]").first());
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/tenants\/[0-9a-f-]{36}$/);
  const create = page.getByRole("button", { name: "Create a key" });
  await tabTo(page, create);
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByRole("dialog").getByLabel("Name"));
  await page.keyboard.type("by-keyboard");
  await page.keyboard.press("Enter");
  await expect(page.getByTestId("new-key")).toHaveText(/^hlm_/);
  await tabTo(page, page.getByRole("button", { name: "I have copied it" }));
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(page.getByRole("cell", { name: "by-keyboard", exact: true })).toBeVisible();

  // Help, and out again.
  await page.keyboard.press("Control+/");
  await expect(page.getByRole("dialog", { name: "Keyboard" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await context.close();
});
