import { randomUUID } from "node:crypto";
import { expect, type Page, test } from "@playwright/test";
import { io, type Socket } from "socket.io-client";
import { NodeLine } from "./node-line";
import { HELM_PAGE, running } from "./product";
import { SecondNode } from "./second-node";
import { contextFor } from "./visit";

const PAIR = "pilot to target";
const FAR = "far-node";
const STUBBORN = "stubborn-node";

test.describe.configure({ mode: "serial" });
test.setTimeout(420_000);

let page: Page;
let line: NodeLine;
let far: SecondNode;
let farId = "";
let tenantId = "";
let key = { id: "", key: "" };

test.beforeAll(async ({ browser }) => {
  const context = await contextFor(browser, { theme: "light", width: 1440 }, true);
  page = await context.newPage();
  line = await NodeLine.open(running().urls.controlPlane);
  line.mappersHeld = true;
  const { token } = await change<{ token: string }>("host.createJoinToken", { kind: "node" });
  far = new SecondNode(FAR, line.url, token);
  await far.start();
  const tenant = await change<{ id: string; revision: number }>("tenant.create", {
    name: `nodes-${randomUUID().slice(0, 8)}`,
  });
  tenantId = tenant.id;
  await change("tenant.setEnabled", { id: tenantId, enabled: true, revision: tenant.revision });
  key = await newKey();
  const { revision, helmEnabled } = await ask<{ revision: number; helmEnabled: boolean }>("setting.get");
  if (!helmEnabled) await change("setting.setHelmEnabled", { enabled: true, revision });
  farId = await idOf(FAR);
});
test.afterAll(async () => {
  await line?.close();
  await far?.remove();
  if (farId) await change("host.revoke", { id: farId }).catch(() => {});
  await page?.context().close();
});

/** A question or a change as a page of the console asks it, with the administrator's session. */
async function call<T>(path: string, answer: Awaited<ReturnType<Page["request"]["get"]>>): Promise<T> {
  const body = (await answer.json()) as { result: { data: { json: T } } };
  if (!answer.ok()) throw new Error(`${path}: ${JSON.stringify(body)}`);
  return body.result.data.json;
}

async function ask<T>(path: string, input?: unknown): Promise<T> {
  const query = input === undefined ? "" : `?input=${encodeURIComponent(JSON.stringify({ json: input }))}`;
  return call(path, await page.request.get(`/trpc/${path}${query}`));
}

async function change<T>(path: string, input: unknown): Promise<T> {
  const headers = { origin: running().urls.console };
  return call(path, await page.request.post(`/trpc/${path}`, { data: { json: input }, headers }));
}

const newKey = () => change<{ id: string; key: string }>("key.create", { tenantId, name: "nodes" });

async function idOf(name: string): Promise<string> {
  const nodes = await ask<{ id: string; name: string }[]>("node.list");
  return nodes.find((node) => node.name === name)?.id ?? "";
}

/** One request at a node's gateway: who answered it and why, or its status. */
async function request(gateway: string, body: object, bearer = key.key) {
  const answer = await fetch(`${gateway}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
    body: JSON.stringify({
      messages: [{ role: "user", content: "king door. king?" }],
      max_tokens: 4,
      ...body,
    }),
  });
  await answer.text();
  return { status: answer.status, reason: answer.headers.get("x-helm-reason") };
}

const gateways = () => [running().urls.gateway, far.url];
const statuses = (body: object, bearer?: string) =>
  Promise.all(gateways().map(async (one) => (await request(one, body, bearer)).status));

/** The line of the pair on a node's own page. */
async function openNode(id: string) {
  await page.goto(`/nodes/${id}`);
  await expect(page.getByRole("heading", { name: "Readiness by pair" })).toBeVisible();
  return page
    .getByRole("listitem")
    .filter({ hasText: PAIR })
    .filter({ hasText: /READY|FETCHING|REFUSED/ })
    .first();
}

test("a revoked key is refused everywhere, although a mapper is missing on one node", async () => {
  await expect.poll(() => statuses({ model: "pilot" }), { timeout: 60_000 }).toEqual([200, 200]);
  // Its mapper is on its way, and the route is served all the same.
  await expect(await openNode(farId)).toContainText("FETCHING", { timeout: 60_000 });
  expect((await request(far.url, {})).status).toBe(200);
  await page.goto(`/tenants/${tenantId}`);
  await page
    .getByRole("button", { name: /^Revoke/ })
    .first()
    .click();
  await page
    .getByRole("dialog")
    .getByRole("button", { name: /Revoke/ })
    .click();
  await expect.poll(() => statuses({ model: "pilot" }), { timeout: 20_000 }).toEqual([401, 401]);
  await expect(await openNode(farId)).toContainText("FETCHING");
  key = await newKey();
  await expect.poll(() => statuses({ model: "pilot" }), { timeout: 20_000 }).toEqual([200, 200]);
  line.mappersHeld = false;
  await expect(await openNode(farId)).toContainText("READY", { timeout: 90_000 });
});

test("a pair is refused on one node and ready on another", async () => {
  const first = (await ask<{ id: string; name: string }[]>("node.list")).find(({ name }) => name !== FAR);
  const pair = (await ask<{ id: string; name: string }[]>("pair.list")).find(
    ({ name }) => name === "pilot -> target",
  );
  const placement = { id: pair?.id };
  const { revision } = await ask<{ revision: number }>("pair.placement", placement);
  await change("pair.place", { ...placement, nodeIds: [first?.id], revision });
  await expect(await openNode(farId)).toContainText("REFUSED: NOT_PLACED", { timeout: 60_000 });
  await expect(await openNode(first?.id ?? "")).toContainText("READY");
  expect(await request(far.url, {})).toEqual({ status: 200, reason: "NOT_PLACED" });
  await change("pair.unplace", {
    ...placement,
    revision: (await ask<{ revision: number }>("pair.placement", placement)).revision,
  });
  await expect(await openNode(farId)).toContainText("READY", { timeout: 90_000 });
});

test("a node that is cut off keeps serving, across its restart too, and the page says that it is not connected", async () => {
  line.cut();
  await page.goto(`/nodes/${farId}`);
  await expect(page.getByText(/not connected/i).first()).toBeVisible({ timeout: 60_000 });
  expect(await statuses({})).toEqual([200, 200]);
  await far.stop();
  await far.start();
  expect(await statuses({ model: "target" })).toEqual([200, 200]);
  expect((await request(far.url, {}, "hlm_nobody_nothing")).status).toBe(401);
  line.mend();
  await expect(await openNode(farId)).toContainText("READY", { timeout: 120_000 });
  await expect(page.getByText(/not connected/i)).toHaveCount(0, { timeout: 60_000 });
});

test("the kill switch takes every node, and the page says how many and how fast", async () => {
  const reasons = () => Promise.all(gateways().map(async (one) => (await request(one, {})).reason));
  expect(await reasons()).not.toContain("HELM_OFF");
  await page.goto(HELM_PAGE);
  await page.getByRole("button", { name: "Pull the kill switch" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Pull it" }).click();
  await expect(page.getByText(/2 of 2 nodes took it, the slowest after/)).toBeVisible();
  expect(await reasons()).toEqual(["HELM_OFF", "HELM_OFF"]);
  await page.getByRole("button", { name: "Release it" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Release it" }).click();
  await expect.poll(async () => (await reasons()).includes("HELM_OFF")).toBe(false);
});

test("a generation that a node refuses is shown with its reason and with what it keeps", async () => {
  const { token } = await change<{ token: string }>("host.createJoinToken", { kind: "node" });
  const socket = await joinStubborn(token);
  try {
    const id = await idOf(STUBBORN);
    await page.goto(`/nodes/${id}`);
    await expect(
      page.getByRole("alert").filter({ hasText: /It refused generation \d+ and keeps 0/ }),
    ).toContainText("its signature is not this node's control plane's");
    const answers = page.getByRole("table", { name: /^What .* answered$/ });
    await expect(answers.getByText("Refused").first()).toBeVisible();
    await page.goto("/nodes");
    await expect(
      page.getByRole("listitem").filter({ hasText: STUBBORN }).getByRole("alert").first(),
    ).toBeVisible();
    await change("host.revoke", { id });
  } finally {
    socket.disconnect();
  }
});

/** TEST DOUBLE: a node's connection and credential are real; behind it nothing serves, and it refuses every snapshot. */
async function joinStubborn(token: string): Promise<Socket> {
  const joined = await fetch(`${running().urls.controlPlane}/api/hosts/join`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      kind: "node",
      join_token: token,
      name: STUBBORN,
      version: "0.1.0",
      device: "cpu",
      hardware: "none",
      devices: [],
      url: "http://127.0.0.1:9",
    }),
  });
  const { credential } = (await joined.json()) as { credential: string };
  const socket = io(`${running().urls.controlPlane}/nodes`, {
    transports: ["websocket"],
    addTrailingSlash: false,
    auth: { credential },
  });
  const refuse = (document: { sha256: string }, reply: (ack: object) => void) =>
    reply({
      ok: false,
      generation: 0,
      sha256: document.sha256,
      reason: "its signature is not this node's control plane's",
      kept_generation: 0,
    });
  socket.on("snapshot", refuse);
  socket.on("access-list", refuse);
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("connect_error", reject);
  });
  return socket;
}
