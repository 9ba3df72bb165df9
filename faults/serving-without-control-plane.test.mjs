import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { until } from "../scripts/demo/admin.mjs";
import { heldNow } from "./held.mjs";
import { countBy, Load, mixOf } from "./load.mjs";
import { kill9 } from "./processes.mjs";
import { Rig } from "./rig.mjs";

const REQUESTS = 100;
const MODELS = ["helm-auto", "pilot", "target"];
const PATIENCE = { timeout: 90_000, interval: 500 };

const rig = new Rig({ seed: "bundled,cleared" });
let load;
let sent = 0;
let answered = 0;

/** Every one has an answer, or (a machine that is short of time) a refusal with its type before it was started. */
const send = async (count) => {
  const { answered: own = 0, typed = 0, ...others } = countBy(await load.run(mixOf(count, MODELS)));
  sent += count;
  answered += own;
  expect({ others, total: own + typed }).toEqual({ others: {}, total: count });
  expect(own).toBeGreaterThan(0);
};
const held = () => heldNow({ url: rig.gatewayUrl, socketPath: join(rig.stateDir, "node", "engine.sock") });

beforeAll(async () => {
  await rig.start();
  // It looks at the seed's models, with which the pair and its route come to stand.
  await rig.startWorker();
  await rig.startNode();
  load = new Load(rig.gatewayUrl, await switchOn(rig.admin));
}, 360_000);
afterAll(async () => {
  await load?.close();
  await rig.stop();
  kill9(rig.left());
  rig.remove();
}, 120_000);

/** Helm on, its tenant enabled, and the node knows of these and of the route; gives the tenant's key. */
async function switchOn(admin) {
  const tenant = await admin.change("tenant.create", { name: "kills" });
  await admin.change("tenant.setEnabled", { id: tenant.id, enabled: true, revision: tenant.revision });
  const { key } = await admin.change("key.create", { tenantId: tenant.id, name: "kills" });
  const { revision } = await admin.ask("setting.get");
  await admin.change("setting.setHelmEnabled", { enabled: true, revision });
  await until("the node serving the route to the key", 60_000, async () => {
    const answer = await fetch(`${rig.gatewayUrl}/v1/models`, {
      headers: { authorization: `Bearer ${key}` },
    });
    return answer.ok && (await answer.json()).data.some(({ id }) => id === "helm-auto");
  });
  return key;
}

async function counted() {
  const tenant = (await rig.admin.ask("tenant.list")).find((one) => one.name === "kills");
  const { total } = await rig.admin.ask("traffic.summary", { hours: 1, tenant: tenant.id });
  const { requests, kept, escalated, direct, explicit } = total;
  return { sent: requests, answered: kept + escalated + direct + explicit };
}

it("kill -9 of the control plane during 100 requests: none goes without an answer, nor while it is away, and each is counted once", {
  timeout: 300_000,
}, async () => {
  const running = send(REQUESTS);
  await expect.poll(() => load.underWay, PATIENCE).toBeGreaterThan(5);
  await rig.kill("control-plane");
  await running;
  await send(12);
  await expect.poll(held, PATIENCE).toEqual({});
  await rig.startControlPlane();
  await expect.poll(counted, PATIENCE).toEqual({ sent, answered });
  await send(12);
  await expect.poll(counted, PATIENCE).toEqual({ sent, answered });
  await expect.poll(held, PATIENCE).toEqual({});
});
