import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TraceBatch } from "@helm/contracts";
import pino from "pino";
import { Server } from "socket.io";
import { io } from "socket.io-client";
import { expect, it, onTestFinished } from "vitest";
import { TraceOutbox } from "../trace/trace-outbox";
import { TraceRecorder } from "../trace/trace-recorder";
import { ReportLane } from "./report-lane";

const log = pino({ level: "silent" });

/** TEST DOUBLE. A control plane that stores ids and, where told so, dies before its answer has left. */
async function listen(port: number, stored: Set<string>, diesOnFirst: boolean) {
  const http = createServer();
  const server = new Server(http);
  const heard: string[][] = [];
  server.on("connection", (socket) => {
    socket.on("traces", (batch: TraceBatch, reply) => {
      const ids = batch.traces.map(({ id }) => id);
      heard.push(ids);
      for (const id of ids) stored.add(id);
      if (diesOnFirst) void server.close();
      else reply({ ok: true });
    });
  });
  await new Promise<void>((resolve) => http.listen(port, "127.0.0.1", resolve));
  return { port: (http.address() as AddressInfo).port, heard, close: () => server.close() };
}

it("loses no trace to a control plane that restarts, and gives it the same ids again", async () => {
  const stored = new Set<string>();
  const first = await listen(0, stored, true);
  const socket = io(`http://127.0.0.1:${first.port}`, { transports: ["websocket"], reconnectionDelay: 20 });
  const recorder = new TraceRecorder({
    rate: () => 1,
    generation: () => 1,
    development: true,
    outbox: new TraceOutbox(),
  });
  const lane = new ReportLane(socket, "traces", recorder.outbox, log);
  const request = (n: number) =>
    recorder.finish(
      recorder.begin(
        n.toString(16).padStart(32, "0"),
        { id: "t", name: "t", enabled: true },
        "/v1/completions",
      ),
    );
  await expect.poll(() => socket.connected).toBe(true);
  request(1);
  request(2);
  await lane.send();
  expect(first.heard).toHaveLength(1);
  request(3);
  const second = await listen(first.port, stored, false);
  onTestFinished(async () => {
    socket.disconnect();
    await second.close();
  });
  await expect.poll(() => socket.connected, { timeout: 15_000 }).toBe(true);
  await lane.send();
  expect(second.heard).toEqual([first.heard[0], ["3".padStart(32, "0")]]);
  expect(stored.size).toBe(3);
  expect(recorder.outbox.takeLeftOut()).toBe(0);
});
