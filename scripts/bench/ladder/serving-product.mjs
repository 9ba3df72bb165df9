import { join } from "node:path";
import { Admin, until } from "../../demo/admin.mjs";
import { startProduct } from "../../lib/product.mjs";
import { childOf } from "./processes.mjs";

const PATIENCE_MS = 180_000;

/** The whole product with a recorded calibration of the bundled pair and a tenant; `routed`: once the pair can be used. */
export async function bringUp(stateDir, { onLine, signal, env = {}, routed = true }) {
  const product = await startProduct({
    stateDir,
    ports: "free",
    console: false,
    seed: "bundled,cleared",
    signal,
    onLine,
    env,
  });
  const admin = new Admin(product.urls.controlPlane);
  await admin.setUp(product.setupToken);
  const [tenant] = await admin.ask("tenant.list");
  await admin.change("tenant.setEnabled", { id: tenant.id, enabled: true, revision: tenant.revision });
  const { key } = await admin.change("key.create", { tenantId: tenant.id, name: "ladder" });
  const { revision } = await admin.ask("setting.get");
  await admin.change("setting.setHelmEnabled", { enabled: true, revision });
  await until("The node taking the pair up", PATIENCE_MS, async () => {
    signal?.throwIfAborted();
    const nodes = await admin.ask("node.list");
    return nodes.some(
      ({ generation, access, readiness }) =>
        readiness &&
        (!routed || readiness.pairs.some(({ state }) => state === "READY")) &&
        generation.active >= generation.desired &&
        readiness.access_version >= access.desired,
    );
  });
  const node = product.pids.node;
  return {
    product,
    key,
    gateway: product.urls.gateway,
    socketPath: join(product.stateDir, "node", "engine.sock"),
    pids: { gateway: node, engine: childOf(node, "lifeboat_kv.engine") },
  };
}
