import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../embedded/index";

let users = 0;
let running: Promise<() => Promise<void>> | undefined;

/** Vitest's global setup: one throw-away server for all projects of the run that name this file. */
export default async function setup(): Promise<() => Promise<void>> {
  users += 1;
  running ??= start();
  const stop = await running;
  return async () => {
    users -= 1;
    if (users === 0) await stop();
  };
}

async function start(): Promise<() => Promise<void>> {
  const given = process.env.HELM_TEST_DATABASE_URL;
  if (given) return async () => {};
  const stateDir = await mkdtemp(join(tmpdir(), "helm-test-pg-"));
  const server = await startEmbeddedPostgres({ stateDir, port: "free", durable: false });
  process.env.HELM_TEST_DATABASE_URL = server.url;
  return async () => {
    delete process.env.HELM_TEST_DATABASE_URL;
    await server.stop();
    await rm(stateDir, { recursive: true, force: true });
  };
}
