import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "@playwright/test";
import { visitEvery } from "./visit";

const FOLDER = fileURLToPath(new URL("../test-results/screens/", import.meta.url));
const WIDTHS = { wide: 1440, narrow: 320 } as const;

for (const theme of ["light", "dark"] as const) {
  for (const [size, width] of Object.entries(WIDTHS)) {
    test(`every page, ${size}, ${theme}`, async ({ browser }) => {
      test.setTimeout(600_000);
      mkdirSync(FOLDER, { recursive: true });
      await visitEvery(browser, { theme, width }, async (page, { name }) => {
        await page.screenshot({ path: `${FOLDER}${name}-${size}-${theme}.png`, fullPage: true });
      });
    });
  }
}
