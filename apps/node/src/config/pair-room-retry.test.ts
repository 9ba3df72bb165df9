import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RoutingSnapshot, SnapshotPair } from "@helm/contracts";
import type { HostClient } from "@helm/host";
import { pino } from "pino";
import { expect, it, vi } from "vitest";
import { EngineClient } from "../engine/engine-client";
import type { ServingEngine } from "../engine/serving-engine";
import { ScriptedEngine, words } from "../testing/scripted-engine";
import { PairRoom } from "./pair-room";

it("tries a canary again that failed for a reason that passes", async () => {
  const mapperDir = await mkdtemp(join(tmpdir(), "helm-pair-room-"));
  const sha256 = createHash("sha256").update("m").digest("hex");
  await mkdir(join(mapperDir, sha256));
  await writeFile(join(mapperDir, sha256, "mapper.safetensors"), "m");
  const scripted = await ScriptedEngine.start();
  const client = new EngineClient({ origin: scripted.origin });
  let full = true;
  scripted.script = (body) => {
    const kv = body.kv_transfer_params as { do_stage?: boolean } | undefined;
    if (!kv?.do_stage) return { tokens: words("x"), report: { result: "transferred" } };
    const refused = { result: "fallback", reason: "NO_MEMORY" };
    return { tokens: words("x"), report: full ? refused : { result: "staged" } };
  };
  const pair = {
    id: "p",
    pilot: "pilot",
    target: "target",
    mapper_sha256: sha256,
    mapper_bytes: 1,
    refusal: null,
    development: true,
    pilot_weights_sha256: null,
    target_weights_sha256: null,
  } satisfies SnapshotPair;
  const models = new Map(["pilot", "target"].map((id) => [id, { id, max_model_len: 64 }]));
  const seen: string[] = [];
  const room: PairRoom = new PairRoom(
    {
      mapperDir,
      artifacts: {} as HostClient,
      development: true,
      nodeId: "n1",
      canaryLengths: [4],
      canaryMs: 60_000,
      retryMs: 5,
    },
    pino({ level: "silent" }),
    () => {
      const { state, code } = room.readiness("p");
      seen.push(code ? `${state}:${code}` : state);
      if (code === "NO_MEMORY") full = false;
    },
  );
  try {
    room.reconcile(
      { routes: [], pairs: [pair] } as unknown as RoutingSnapshot,
      { client, models } as unknown as ServingEngine,
    );
    await vi.waitFor(() => expect(room.readiness("p").state).toBe("READY"), { timeout: 10_000 });
    expect(seen).toEqual(["FETCHING", "REFUSED:NO_MEMORY", "READY"]);
  } finally {
    room.close();
    await client.close();
    await scripted.stop();
    await rm(mapperDir, { recursive: true });
  }
});
