import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NodeAck, NodeReadiness, NodeStats } from "@helm/contracts";
import pino from "pino";
import { Server } from "socket.io";
import { expect, it, onTestFinished } from "vitest";
import { StatsCollector } from "../gateway/counters/stats";
import { accessOf, makeSigner, snapshotOf } from "../testing/signing";
import { TraceOutbox } from "../trace/trace-outbox";
import { Configuration } from "./configuration";
import { ControlLink } from "./control-link";
import { DocumentStore } from "./document-store";

/** A busy machine takes its time; nothing here is about speed. */
const patience = { timeout: 15_000 };
const log = pino({ level: "silent" });
const readiness: NodeReadiness = {
  active_generation: 0,
  acked_generation: 0,
  access_version: 0,
  engine: { name: "x", healthy: true, development: true, models: [] },
  pairs: [],
};

it("takes documents with an ack each, and sends readiness and counters", async () => {
  const signer = makeSigner();
  const folder = await mkdtemp(join(tmpdir(), "helm-link-"));
  const http = createServer();
  const server = new Server(http);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const configuration = new Configuration(
    new DocumentStore(folder),
    { signingKey: signer.publicKey, nodeId: "n1" },
    log,
  );
  const stats = new StatsCollector();
  const acks: NodeAck[] = [];
  const heard: Record<string, unknown[]> = { readiness: [], stats: [] };
  server.of("/nodes").on("connection", async (socket) => {
    expect(socket.handshake.auth).toEqual({ credential: "secret" });
    socket.on("readiness", (payload) => heard.readiness?.push(payload));
    socket.on("stats", (payload, reply) => {
      // The first answer is lost: the same report must come again. The third report can never be taken.
      const count = heard.stats?.push(payload);
      reply(count === 1 ? { ok: false } : count === 2 ? { ok: true } : { ok: false, refused: true });
    });
    for (const [event, document] of [
      ["access-list", signer.sign(accessOf(1))],
      ["snapshot", signer.sign(snapshotOf(2))],
      ["snapshot", { nonsense: true }],
      ["snapshot", makeSigner().sign(snapshotOf(3))],
    ] as const) {
      acks.push(await socket.emitWithAck(event, document));
    }
  });
  const served = {
    tenant_id: "t",
    pair_id: null,
    decision: "explicit",
    reason: null,
    transfer: "none",
    tokens_moved: 0,
    first_token_ms: 5,
  };
  stats.add(served);
  const used: string[] = [];
  const link = new ControlLink(
    {
      controlUrl: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
      credential: "secret",
      configuration,
      stats,
      traces: new TraceOutbox(),
      playground: { take: () => Promise.reject(new Error("nobody asks here")), cancel: () => {} },
      readiness: () => readiness,
      onDocument: (kind) => used.push(kind),
    },
    log,
  );
  onTestFinished(async () => {
    await link.close();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });
  await expect.poll(() => acks.length, patience).toBe(4);
  expect(acks.map((ack) => ack.ok)).toEqual([true, true, false, false]);
  expect(used).toEqual(["access-list", "snapshot"]);
  expect(configuration.snapshot?.generation).toBe(2);
  expect(heard.readiness?.[0]).toEqual(readiness);
  await expect.poll(() => heard.stats?.length, patience).toBe(2);
  expect(heard.stats?.[0]).toEqual(heard.stats?.[1]);
  await expect.poll(() => stats.report(), patience).toBeNull();
  stats.add(served);
  await expect.poll(() => heard.stats?.length, patience).toBe(3);
  expect(new Set((heard.stats as NodeStats[]).map(({ id }) => id)).size).toBe(2);
  await expect.poll(() => stats.report(), patience).toBeNull();
});
