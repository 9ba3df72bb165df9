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
