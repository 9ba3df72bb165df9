import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Role } from "@helm/contracts";
import { testDatabase } from "@helm/db/testing";
import { vi } from "vitest";
import type { Actor } from "../access/actor";
import { startControlPlane } from "../boot";
import { readConfig } from "../config";
import { createLog } from "../logging";
import { appRouter } from "../router";
import { outsideTransaction } from "../transaction";
import { createCallerFactory } from "../trpc/procedure";
import { NODE_TOKEN, ORIGIN, SETUP_TOKEN, WORKER_TOKEN } from "./names";
import { type RequestOptions, request } from "./request";

export { NODE_TOKEN, ORIGIN, SETUP_TOKEN, WORKER_TOKEN };

// A server, a database and real sockets for each file: generous, for machines that are busy with other things.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 });

const createCaller = createCallerFactory(appRouter);

/** A whole control plane on a database and a port of its own; `logTo` gets its log's lines. */
export async function testControlPlane(
  env: Record<string, string> = {},
  /** Gives the address at which the control plane finds its database, something in between for one. */
  through: (databaseUrl: string) => Promise<string> = async (databaseUrl) => databaseUrl,
  logTo?: { write(line: string): void },
) {
  const database = await testDatabase();
  const stateDir = await mkdtemp(join(tmpdir(), "helm-control-"));
  const config = readConfig({
    HELM_PORT: "0",
    DATABASE_URL: await through(database.url),
    HELM_STATE_DIR: stateDir,
    HELM_AUTH_SECRET: "a secret of tests that is long enough",
    HELM_SETUP_TOKEN: SETUP_TOKEN,
    HELM_BOOTSTRAP_JOIN_TOKENS: `worker:${WORKER_TOKEN},node:${NODE_TOKEN}`,
    HELM_LOG_LEVEL: "silent",
    ...env,
  });
  const controlPlane = await startControlPlane(config, createLog(config.logLevel, logTo));
  const { services, url } = controlPlane;

  /** Who `as` acts as; no rows of the database unless a test makes them. */
  const ids = { viewer: randomUUID(), operator: randomUUID(), admin: randomUUID() };
  const sessionIds = { viewer: randomUUID(), operator: randomUUID(), admin: randomUUID() };
  /** Calls a procedure as a person of this role, or as nobody. */
  const as = (role: Role | "nobody", requestId: string = randomUUID()) => {
    const actor: Actor =
      role === "nobody"
        ? { kind: "anonymous" }
        : {
            kind: "person",
            id: ids[role],
            name: role,
            email: `${role}@example.com`,
            role,
            sessionId: sessionIds[role],
          };
    return createCaller(
      outsideTransaction({ services, actor, requestId, address: "127.0.0.1", log: services.log }),
    );
  };

  const dropDatabase = async () => {
    await database.drop();
    await rm(stateDir, { recursive: true, force: true });
  };

  return {
    ...controlPlane,
    db: database.db,
    as,
    ids,
    sessionIds,
    stop: async () => {
      await controlPlane.stop();
      await dropDatabase();
    },
    /** The server alone, as when it is stopped for a while. */
    stopServer: controlPlane.stop,
    dropDatabase,
    /** A second control plane on the same database, as after a restart. */
    restart: (changes: Partial<typeof config> = {}) =>
      startControlPlane({ ...config, ...changes }, createLog(config.logLevel)),
    request: (method: string, path: string, options: RequestOptions = {}) =>
      request(url, method, path, options),
  };
}

export type TestControlPlane = Awaited<ReturnType<typeof testControlPlane>>;
