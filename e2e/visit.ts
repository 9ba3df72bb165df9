import type { Browser, BrowserContext, Page } from "@playwright/test";
import { everyPage, type KnownPage } from "./every-page";
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

/** Every page in one look, one after the other; the two that need no session are opened without one. */
export async function visitEvery(
  browser: Browser,
  look: Look,
  check: (page: Page, known: KnownPage) => Promise<void>,
  prepare?: (page: Page) => void,
): Promise<void> {
  for (const signedIn of [true, false]) {
    const context = await contextFor(browser, look, signedIn);
    const page = await context.newPage();
    prepare?.(page);
    for (const known of everyPage().filter((one) => one.signedIn === signedIn)) {
      await open(page, known);
      await check(page, known);
    }
    await context.close();
  }
}

/** Opens a page and waits until nothing on it is loading any more. */
export async function open(page: Page, { path }: KnownPage): Promise<void> {
  await page.goto(path, { waitUntil: "domcontentloaded" });
  await page.locator("h1").first().waitFor();
  await page.waitForFunction(() => document.querySelectorAll(".animate-pulse[aria-hidden]").length === 0);
}
