import type { Browser, BrowserContext, Page } from "@playwright/test";
import type { KnownPage } from "./every-page";
import { running, sessionFile } from "./product";

export type Look = { theme: "light" | "dark"; width: number };

export async function contextFor(
  browser: Browser,
  { theme, width }: Look,
  signedIn: boolean,
): Promise<BrowserContext> {
  return browser.newContext({
    baseURL: running().urls.console,
    colorScheme: theme,
    reducedMotion: "reduce",
    viewport: { width, height: 900 },
    storageState: signedIn ? sessionFile() : undefined,
  });
}

/** Opens a page and waits until nothing on it is loading any more. */
export async function visit(page: Page, { path }: KnownPage): Promise<void> {
  await page.goto(path);
  await page.locator("h1").first().waitFor();
  await page.waitForFunction(() => document.querySelectorAll(".animate-pulse[aria-hidden]").length === 0);
}
