import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "@playwright/test";
import { everyPage } from "./every-page";
import { contextFor, visit } from "./visit";

const FOLDER = fileURLToPath(new URL("../test-results/screens/", import.meta.url));
const WIDTHS = { wide: 1440, narrow: 320 } as const;

for (const theme of ["light", "dark"] as const) {
  for (const [size, width] of Object.entries(WIDTHS)) {
    test(`every page, ${size}, ${theme}`, async ({ browser }) => {
      test.setTimeout(300_000);
      mkdirSync(FOLDER, { recursive: true });
      for (const known of everyPage()) {
        const context = await contextFor(browser, { theme, width }, known.signedIn);
        const page = await context.newPage();
        await visit(page, known);
        await page.screenshot({ path: `${FOLDER}${known.name}-${size}-${theme}.png`, fullPage: true });
        await context.close();
      }
    });
  }
}
