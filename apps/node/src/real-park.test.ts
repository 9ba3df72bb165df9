import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { locatePython, processStart, readDeviceUse } from "@helm/host";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { readConfig } from "./environment";
import { chooseHardware } from "./hardware";
import { Node } from "./node";
import { hasPython } from "./testing/real-engine";
import { ScriptedControlPlane } from "./testing/scripted-control-plane";
import { accessOf, snapshotOf } from "./testing/signing";

const NODE = "n1";
const KEY = "hlm_test_park";
const within = { timeout: 180_000, interval: 100 };

describe.runIf(hasPython())("a node with the reference engine that is parked", () => {
  const control = new ScriptedControlPlane();
  let folder = "";
  let node: Node;
  let origin = "";
  let url = "";

  async function startNode() {
    const config = readConfig({
      HELM_CONTROL_URL: url,
      HELM_NODE_STATE: join(folder, "node"),
      HELM_LEASE_DIR: join(folder, "leases"),
      HELM_GATEWAY_PORT: "0",
      HELM_DEVICE: "cpu",
    });
    const hardware = chooseHardware([], "cpu");
    const { publicKey } = control.signer;
    const identity = { control_url: config.controlUrl, id: NODE, credential: "c", signing_key: publicKey };
    node = new Node({ config, identity, hardware, python: locatePython(), log: pino({ level: "silent" }) });
    origin = `http://127.0.0.1:${await node.start()}`;
  }
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "helm-parked-"));
    url = await control.start();
    await startNode();
    await vi.waitFor(() => expect(control.connected).toBe(true), within);
    const hash = createHash("sha256").update(KEY).digest("hex");
    const keys = [{ hash, prefix: KEY.slice(0, 8), tenant_id: "t", expires_at: null }];
    const tenants = [{ id: "t", name: "t", enabled: false }];
    await control.send("access-list", control.signer.sign(accessOf(1, { keys, tenants })));
    await control.send("snapshot", control.signer.sign(snapshotOf(1)));
    await vi.waitFor(() => expect(state()).toBe("SERVING"), within);
  }, 240_000);
  afterAll(async () => {
    await node?.stop();
    await control.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const state = () => control.readiness?.serving?.state;
  const engines = async () =>
    (await readDeviceUse({ directory: join(folder, "leases"), device: "cpu" })).engines;
  const ask = (body: object) =>
    fetch(`${origin}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}` },
      body: JSON.stringify({
        model: "pilot",
        messages: [{ role: "user", content: "Sort: 3 1 2" }],
        temperature: 0,
        ...body,
      }),
    });

  it("ends what runs, gives the engine's memory back, refuses with a number of seconds, and serves again", async () => {
    const [before] = await engines();
    const pid = before?.pid ?? 0;
    expect(before?.footprint_bytes).toBeGreaterThan(50 * 1024 ** 2);
    const body = { stream: true, max_tokens: 300, min_tokens: 300, ignore_eos: true };
    const running = await ask(body);
    expect(running.status).toBe(200);
    await control.order(NODE, { drain: true, park: true });
    await expect.poll(state, within).toBe("DRAINING");
    expect(control.readiness?.serving?.running).toBe(1);
    expect(processStart(pid)).not.toBeNull();
    const text = await running.text();
    expect(text.trimEnd().endsWith("data: [DONE]")).toBe(true);
    expect(text.match(/"content":/g)?.length).toBeGreaterThan(50);

    await expect.poll(state, within).toBe("PARKED");
    expect(processStart(pid)).toBeNull();
    expect(await engines()).toEqual([]);
    expect(control.readiness?.engine).toMatchObject({ healthy: false, models: [] });
    const refused = await ask({});
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("30");
    expect((await refused.json()) as unknown).toMatchObject({
      error: {
        code: "no_capacity",
        message: expect.stringContaining("parked"),
      },
    });
    expect(await (await fetch(`${origin}/health`)).json()).toMatchObject({ serving: "PARKED" });

    await control.order(NODE, { drain: false });
    await expect.poll(state, within).toBe("SERVING");
    const [after] = await engines();
    expect(after?.pid).not.toBe(pid);
    expect((await ask({ max_tokens: 4 })).status).toBe(200);
  }, 400_000);

  it("stays parked over its own restart, without an engine, until it is told to come back", async () => {
    await control.order(NODE, { drain: true, park: true });
    await expect.poll(state, within).toBe("PARKED");
    await node.stop();
    control.readiness = null;
    await startNode();
    await expect.poll(state, within).toBe("PARKED");
    expect(await engines()).toEqual([]);
    await control.order(NODE, { drain: false, park: false });
    await expect.poll(state, within).toBe("SERVING");
    expect((await ask({ max_tokens: 4 })).status).toBe(200);
  }, 400_000);
});
