import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Page, test } from "@playwright/test";
import { everyPage } from "./every-page";
import { HELM_PAGE } from "./product";
import { contextFor, open, visitEvery } from "./visit";

const FOLDER = fileURLToPath(new URL("../test-results/screens/", import.meta.url));
const WIDTHS = { wide: 1440, narrow: 320 } as const;

/** Dialogs stand in the address, or behind a button of this name. */
function dialogs(): { name: string; path: string; button?: string | RegExp }[] {
  const pathOf = (name: string) => everyPage().find((page) => page.name === name)?.path ?? "/";
  return [
    { name: "dialog-switch", path: `${HELM_PAGE}?do=switch` },
    { name: "dialog-register", path: "/pairs?do=register" },
    { name: "dialog-calibrate", path: `${pathOf("pair")}?do=calibrate` },
    { name: "dialog-tenant", path: "/tenants?do=create" },
    { name: "dialog-person", path: "/access?do=person" },
    { name: "dialog-node", path: "/nodes?do=node" },
    { name: "dialog-route", path: HELM_PAGE, button: /^Edit the route/ },
    { name: "dialog-new-route", path: HELM_PAGE, button: "Create a route" },
    { name: "dialog-settings", path: HELM_PAGE, button: "Edit the settings" },
    { name: "dialog-key", path: pathOf("tenant"), button: "Create a key" },
  ];
}

async function visitDialogs(page: Page, take: (name: string) => Promise<unknown>): Promise<void> {
  for (const { name, path, button } of dialogs()) {
    await open(page, { name, path, signedIn: true });
    if (button) await page.getByRole("button", { name: button, exact: true }).first().click();
    await page.getByRole("dialog").waitFor();
    await take(name);
  }
}

for (const theme of ["light", "dark"] as const) {
  for (const [size, width] of Object.entries(WIDTHS)) {
    test(`every page, ${size}, ${theme}`, async ({ browser }) => {
      test.setTimeout(600_000);
      mkdirSync(FOLDER, { recursive: true });
      const file = (name: string) => `${FOLDER}${name}-${size}-${theme}.png`;
      await visitEvery(browser, { theme, width }, async (page, { name }) => {
        await page.screenshot({ path: file(name), fullPage: true });
      });
      const context = await contextFor(browser, { theme, width }, true);
      const page = await context.newPage();
      await visitDialogs(page, (name) => page.screenshot({ path: file(name) }));
      await context.close();
    });
  }
}
