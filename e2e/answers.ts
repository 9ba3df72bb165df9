import type { Page, Route } from "@playwright/test";

/** Who is signed in, and whether setup is open: without these a page leads elsewhere before it asks anything. */
const KEPT = new Set(["session.current", "setup.status", "account.get"]);

type Refusal = { status: number; code: string; message: string };

/** Answers every question of a page with one refusal; the session's own are passed on. */
export async function refuseAll(page: Page, refusal: Refusal): Promise<void> {
  await page.route("**/trpc/**", async (route) => {
    const paths = pathsOf(route);
    if (paths.every((path) => KEPT.has(path))) return route.fallback();
    const real = paths.some((path) => KEPT.has(path)) ? await (await route.fetch()).json() : [];
    const answers = paths.map((path, i) => (KEPT.has(path) ? real[i] : refused(refusal, path)));
    const batched = new URL(route.request().url()).searchParams.has("batch");
    await route.fulfill({ status: batched ? 207 : refusal.status, json: batched ? answers : answers[0] });
  });
}

/** Leaves every question of a page open; the session's own are passed on. */
export async function leaveOpen(page: Page): Promise<void> {
  await page.route("**/trpc/**", (route) =>
    pathsOf(route).every((path) => KEPT.has(path)) ? route.fallback() : new Promise<void>(() => {}),
  );
}

function pathsOf(route: Route): string[] {
  const { pathname } = new URL(route.request().url());
  return decodeURIComponent(pathname.slice("/trpc/".length)).split(",");
}

function refused({ status, code, message }: Refusal, path: string) {
  const helm = { code, userMessage: message, details: {}, requestId: "made-by-the-test" };
  return { error: { json: { message, code: -32_603, data: { code, httpStatus: status, path, helm } } } };
}
