import { expect, test } from "@playwright/test";
import { running } from "./product";

/** Tries of an invitation by the control plane's own limit; input that cannot be valid is counted. */
const LIMIT = 30;

test("who writes addresses into headers gets no new allowance, through the console or past it", async ({
  request,
}) => {
  const { console: front, controlPlane } = running().urls;
  const tried = async (base: string, i: number) => {
    const answer = await request.post(`${base}/trpc/invitation.accept`, {
      data: { json: {} },
      headers: {
        origin: front,
        "x-forwarded-for": `203.0.113.${i}, 127.0.0.1`,
        "x-real-ip": `203.0.113.${i}`,
        forwarded: `for=203.0.113.${i}`,
        "x-helm-console": "guessed",
      },
    });
    return answer.status();
  };
  const statuses: number[] = [];
  for (let i = 0; i <= LIMIT; i += 1) statuses.push(await tried(front, i));
  expect(statuses.at(-1)).toBe(429);
  for (let i = 0; i < 3; i += 1) expect(await tried(controlPlane, 100 + i)).toBe(429);
});
