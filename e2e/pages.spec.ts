import AxeBuilder from "@axe-core/playwright";
import { expect, type Page, test } from "@playwright/test";
import { everyPage, unseenRoutes } from "./every-page";
import { running } from "./product";
import { contextFor, type Look, visitEvery } from "./visit";

/** Half a minute on two idle cores; a busy machine gets its time. */
const LONG = 600_000;
const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

test("every route of the console is among the pages that are looked at here", () => {
  expect(unseenRoutes(everyPage())).toEqual([]);
  expect(unseenRoutes([])).toContain("/pairs/[id]");
});

for (const theme of ["light", "dark"] as const) {
  test(`no page has a serious accessibility fault (${theme})`, async ({ browser }) => {
    test.setTimeout(LONG);
    await visitEvery(browser, { theme, width: 1440 }, async (page, { name }) => {
      const { violations } = await new AxeBuilder({ page }).withTags(WCAG).analyze();
      const serious = violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
      expect.soft(serious, `${name}, ${theme}`).toEqual([]);
    });
  });
}

for (const width of [320, 1280, 1440])
  test(`no page scrolls sideways at ${width} px`, async ({ browser }) => {
    test.setTimeout(LONG);
    await visitEvery(browser, { theme: "light", width }, async (page, { name }) => {
      const beyond = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect.soft(beyond, name).toBe(0);
    });
  });

test("no page asks another host for anything, and none breaks the content security policy", async ({
  browser,
}) => {
  test.setTimeout(LONG);
  const own = new URL(running().urls.console).host;
  const foreign: string[] = [];
  const refused: string[] = [];
  const listen = (page: Page) => {
    page.on("request", (request) => {
      const { host, protocol } = new URL(request.url());
      if (protocol !== "data:" && protocol !== "blob:" && host !== own) foreign.push(request.url());
    });
    page.on("websocket", (socket) => {
      if (new URL(socket.url()).host !== own) foreign.push(socket.url());
    });
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) refused.push(message.text());
    });
  };
  await visitEvery(browser, { theme: "light", width: 1440 }, async () => undefined, listen);
  expect(foreign).toEqual([]);
  expect(refused).toEqual([]);
});

test("the Helm page can be used with the keyboard alone", async ({ browser }) => {
  const look: Look = { theme: "light", width: 1440 };
  const context = await contextFor(browser, look, true);
  const page = await context.newPage();
  await page.goto("/");
  await page.getByRole("switch", { name: "Helm Intelligent Routing" }).focus();
  await page.keyboard.press("Space");
  const question = page.getByRole("dialog", { name: /^Turn Helm (on|off)\?$/ });
  await expect(question).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(question).toBeHidden();
  await expect(page.getByRole("switch", { name: "Helm Intelligent Routing" })).toBeFocused();
  await context.close();
});

test("without a session every page leads to sign in, and from there back", async ({ browser }) => {
  const context = await contextFor(browser, { theme: "light", width: 1440 }, false);
  const page = await context.newPage();
  await page.goto("/tenants");
  await expect(page).toHaveURL(/\/sign-in\?next=%2Ftenants$/);
  await page.getByLabel("Email").fill("nobody@example.org");
  await page.getByLabel("Password").fill("not the right one");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("alert").filter({ hasText: "do not belong together" })).toBeVisible();
  await context.close();
});
