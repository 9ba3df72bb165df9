import { expect, type Page } from "@playwright/test";
import { ladder } from "../apps/control-plane/src/testing/ladder";
import { running } from "./product";

/** What the ladder's page is looked at with: the form that the ladder's verb prints, with figures of a test. */
export async function recordedLadder(page: Page): Promise<string> {
  const answer = await page.request.post("/trpc/ladder.record", {
    data: { json: ladder() },
    headers: { origin: running().urls.console },
  });
  const body = (await answer.json()) as { result: { data: { json: { id: string } } } };
  return body.result.data.json.id;
}

/** The node that the start command brings along. */
export async function firstNode(page: Page): Promise<string> {
  let id = "";
  await expect
    .poll(
      async () => {
        const answer = await page.request.get("/trpc/node.list");
        const body = (await answer.json()) as { result: { data: { json: { id: string }[] } } };
        id = body.result.data.json[0]?.id ?? "";
        return id;
      },
      { timeout: 120_000 },
    )
    .not.toBe("");
  return id;
}

/** The trace of one question that is asked in the playground, once its node has sent it. */
export async function askedTrace(page: Page): Promise<string> {
  await page.goto("/playground");
  await expect(async () => {
    await page.reload();
    await page.getByLabel("Prompt").fill("Sort: 7 3 9 1");
    await page.getByLabel("Tokens at most").fill("8");
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await expect(page.getByText("Answered.", { exact: true })).toBeVisible({ timeout: 40_000 });
    await expect(page.getByRole("main").locator('a[href^="/traffic/"]')).toHaveCount(3);
  }).toPass({ timeout: 180_000 });
  const routed = page.getByRole("region", { name: "Through the route" });
  const path = (await routed.locator('a[href^="/traffic/"]').getAttribute("href")) ?? "";
  await expect(async () => {
    await page.goto(path);
    await expect(page.getByRole("heading", { name: "Where the time went" })).toBeVisible({ timeout: 3_000 });
  }).toPass({ timeout: 60_000 });
  return path.split("/").at(-1) ?? "";
}
