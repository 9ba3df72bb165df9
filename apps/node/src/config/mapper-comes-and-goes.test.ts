import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RoutingSnapshot, SnapshotPair } from "@helm/contracts";
import { HostClient } from "@helm/host";
import { pino } from "pino";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { EngineClient } from "../engine/engine-client";
import type { ServingEngine } from "../engine/serving-engine";
import { ScriptedEngine, words } from "../testing/scripted-engine";
import { PairRoom } from "./pair-room";

const BYTES = Buffer.from("the bytes of a mapper");
const sha256 = createHash("sha256").update(BYTES).digest("hex");
const pair = {
  id: "p",
  pilot: "pilot",
  target: "target",
  mapper_sha256: sha256,
  mapper_bytes: BYTES.length,
  refusal: null,
  development: true,
  pilot_weights_sha256: null,
  target_weights_sha256: null,
} satisfies SnapshotPair;
const snapshotOf = (...pairs: SnapshotPair[]) => ({ routes: [], pairs }) as unknown as RoutingSnapshot;
const WITH = snapshotOf(pair);
const WITHOUT = snapshotOf();

let mapperDir: string;
let scripted: ScriptedEngine;
let server: Server;
let artifacts: HostClient;
let room: PairRoom;
let clients: EngineClient[];
/** Downloads under way that wait for their second half. */
let held: (() => void)[];

beforeEach(async () => {
  mapperDir = await mkdtemp(join(tmpdir(), "helm-mapper-"));
  scripted = await ScriptedEngine.start();
  scripted.script = (body) => {
    const kv = body.kv_transfer_params as { do_stage?: boolean } | undefined;
    return { tokens: words("x"), report: { result: kv?.do_stage ? "staged" : "transferred" } };
  };
  held = [];
  clients = [];
  server = createServer((_, res) => {
    res.writeHead(200, { "content-length": String(BYTES.length) });
    res.write(BYTES.subarray(0, 7));
    held.push(() => res.end(BYTES.subarray(7)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  artifacts = new HostClient({ controlUrl: `http://127.0.0.1:${port}`, credential: "c" });
  const here = {
    mapperDir,
    artifacts,
    development: true,
    nodeId: "n1",
    canaryLengths: [4],
    canaryMs: 60_000,
  };
  room = new PairRoom(here, pino({ level: "silent" }), () => {});
});
afterEach(async () => {
  room.close();
  await Promise.all(clients.map((client) => client.close()));
  await artifacts.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await scripted.stop();
  await rm(mapperDir, { recursive: true, force: true });
});

/** TEST DOUBLE of what an engine holds: it loads what lies on the disk, and `dropping` may hold a drop up. */
function engine(dropping: () => Promise<void> = async () => {}) {
  const client = new EngineClient({ origin: scripted.origin });
  clients.push(client);
  const loaded = new Set<string>();
  client.loadMapper = async (name) => {
    await stat(join(mapperDir, name, "mapper.safetensors"));
    loaded.add(name);
  };
  client.dropMapper = async (name) => {
    await dropping();
    loaded.delete(name);
  };
  const models = new Map(["pilot", "target"].map((id) => [id, { id, max_model_len: 64 }]));
  return { loaded, serving: { client, models } as unknown as ServingEngine };
}
const ready = () => vi.waitFor(() => expect(room.readiness("p").state).toBe("READY"), { timeout: 10_000 });
const downloads = (count: number) => vi.waitFor(() => expect(held).toHaveLength(count), { timeout: 10_000 });

it("is there and loaded where it is wanted again while it is being removed", async () => {
  await mkdir(join(mapperDir, sha256));
  await writeFile(join(mapperDir, sha256, "mapper.safetensors"), BYTES);
  let dropped: () => void = () => {};
  const dropping = vi.fn(() => new Promise<void>((resolve) => (dropped = resolve)));
  const { loaded, serving } = engine(dropping);
  room.reconcile(WITH, serving);
  await ready();
  room.reconcile(WITHOUT, serving);
  await vi.waitFor(() => expect(dropping).toHaveBeenCalled());
  room.reconcile(WITH, serving);
  // As long as a canary takes that does not wait.
  await new Promise((resolve) => setTimeout(resolve, 200));
  dropped();
  await downloads(1);
  held[0]?.();
  await ready();
  expect([...loaded]).toEqual([sha256]);
  expect(await readdir(join(mapperDir, sha256))).toEqual(["mapper.safetensors"]);
});

it("is fetched once where the engine changes meanwhile", async () => {
  room.reconcile(WITH, engine().serving);
  await downloads(1);
  const next = engine();
  room.reconcile(WITH, next.serving);
  await new Promise((resolve) => setTimeout(resolve, 200));
  for (const finish of held) finish();
  await ready();
  expect(held).toHaveLength(1);
  expect([...next.loaded]).toEqual([sha256]);
});

it("leaves nothing behind where it is wanted no more when it has come", async () => {
  const { loaded, serving } = engine();
  room.reconcile(WITH, serving);
  await downloads(1);
  room.reconcile(WITHOUT, serving);
  held[0]?.();
  await vi.waitFor(async () => expect(await readdir(mapperDir)).toEqual([]), { timeout: 10_000 });
  expect(loaded.size).toBe(0);
});
