import { randomBytes, randomUUID } from "node:crypto";
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createDb, type Db } from "@helm/db";
import { Server } from "socket.io";
import { sweepRateLimits } from "./access/rate-limit";
import { hashSecret } from "./access/secret";
import { openStore } from "./artifact/open-store";
import { sweepDeletedFiles } from "./artifact/remove-deleted";
import { sweepUploads } from "./artifact/sweep-uploads";
import { Uploads } from "./artifact/uploads";
import { writeAudit } from "./audit/write-audit";
import { type Auth, createAuth } from "./auth/auth";
import { openConsoleSockets } from "./calibration/console-socket";
import { sweepDrains } from "./calibration/drain-phase";
import { renewAllLeases } from "./calibration/lease";
import { LeaseWatch } from "./calibration/lease-watch";
import { sweepRuns } from "./calibration/sweep";
import { refreshWaiting } from "./calibration/waiting";
import { openWorkerSockets } from "./calibration/worker-socket";
import { clusterAdapter } from "./cluster/adapter";
import { Bus } from "./cluster/bus";
import { holdIdentity, type Identity, STARTING } from "./cluster/identity";
import type { Config } from "./config";
import type { Context, Services } from "./context";
import { databaseNow } from "./database-clock";
import { healthEndpoints } from "./health/endpoints";
import { createMetrics } from "./health/metrics";
import { storeJoinToken } from "./host/create-join-token";
import { boundBody } from "./http/bound-body";
import type { Endpoint } from "./http/endpoint";
import { ENDPOINTS } from "./http/endpoints";
import { createHandler } from "./http/handler";
import { socketOriginAllowed } from "./http/origin";
import { Hub } from "./hub";
import { sweepInspections } from "./inspection/jobs";
import type { Log } from "./logging";
import { sweepParks } from "./park/sweep-parks";
import { expireRuns } from "./playground/expire-runs";
import { seedBundled } from "./seed/bundled";
import { importWhenRegistered } from "./seed/import-when-registered";
import { offerSetupToken } from "./setup/offer-token";
import { openNodeSockets } from "./snapshot/node-socket";
import { publishAccessList } from "./snapshot/publish-access-list";
import { compactStats } from "./traffic/compact-stats";
import { expireTraces } from "./traffic/expire-traces";
import { inTransaction, outsideTransaction } from "./transaction";

const SOCKET_MAX_BYTES = 16 * 1024 ** 2;
/** With a hash of the timer's name: one lock each. */
const TIMER_LOCKS = 721_011_603;
const ACCESS_LIST_MAX_AGE_MS = 60 * 60_000;

export interface ControlPlane {
  services: Services;
  /** Where it listens, on loopback or the bound address. */
  url: string;
  setupToken: string;
  /** True where no token was given and this one has to be shown to a person. */
  setupTokenIsNew: boolean;
  /** Every address besides the procedures and the sign-in, with who may call it. */
  endpoints: Endpoint[];
  auth: Auth;
  stop(): Promise<void>;
}

/** Everything but the process: no signals, no environment. Migrations are the caller's. */
export async function startControlPlane(given: Config, log: Log): Promise<ControlPlane> {
  const setupToken = given.setupToken ?? randomBytes(18).toString("base64url");
  const config: Config = { ...given, setupToken };
  const db = createDb(config.databaseUrl);
  const { bus, identity } = await joinFleet(config, db, log).catch(async (error: unknown) => {
    await db.$disconnect();
    throw error;
  });
  // Longer than any client of ours keeps an idle connection: the one that closes first must not be the server.
  const http = createServer({ requestTimeout: 0, headersTimeout: 70_000, keepAliveTimeout: 65_000 });
  const io = new Server(http, {
    path: "/socket.io",
    addTrailingSlash: false,
    serveClient: false,
    maxHttpBufferSize: SOCKET_MAX_BYTES,
    // A console says "not live" when it has heard nothing for two of these (its api/quiet.ts).
    pingInterval: 4_000,
    pingTimeout: 10_000,
    adapter: clusterAdapter(bus),
    allowRequest: (req, decide) => decide(null, socketOriginAllowed(req, config.origins)),
  });
  const hub = new Hub(io);
  bus.onGap = () => hub.resync();
  const { signer } = identity;
  const artifacts = openStore(config);
  const uploads = new Uploads(artifacts, config.uploads);
  const services: Services = { config, db, log, hub, signer, artifacts, uploads };
  const auth = createAuth(services);
  const metrics = createMetrics(db);
  const endpoints: Endpoint[] = [...ENDPOINTS, ...healthEndpoints(metrics)];
  const handle = createHandler(services, auth, endpoints);
  http.on("request", (req, res) => {
    if (req.url?.startsWith("/socket.io")) {
      boundBody(req, res, config, false);
      return;
    }
    const started = performance.now();
    res.on("close", () => {
      metrics.requests.inc({ method: req.method ?? "", status: `${Math.floor(res.statusCode / 100)}xx` });
      metrics.seconds.observe((performance.now() - started) / 1000);
    });
    handle(req, res);
  });
  // Nothing is said in the namespace that Socket.IO opens by itself.
  io.of("/").use((_, next) => next(new Error("NOT_FOUND")));
  openConsoleSockets(services, auth);
  openWorkerSockets(services);
  openNodeSockets(services);
  await prepare(services, setupToken, { others: await bus.others(), keysReplaced: identity.replaced });
  // Not waited for: a start does not hang on a store.
  void sweepDeleted(services).catch((error: unknown) =>
    log.warn({ err: error }, "deleted files that are still stored are looked for again in a minute"),
  );
  const timers = startTimers(services);
  const seeding = importWhenRegistered(services);
  const url = await listen(http, config);
  return {
    services,
    url,
    setupToken,
    setupTokenIsNew: given.setupToken === undefined,
    endpoints,
    auth,
    stop: async () => {
      await seeding.stop();
      await stop({ http, io, hub, bus, db, timers });
    },
  };
}

function systemContext(services: Services, name: string): Context {
  const requestId = randomUUID();
  return outsideTransaction({
    services,
    actor: { kind: "system", name },
    requestId,
    address: "local",
    log: services.log.child({ requestId }),
  });
}

async function joinFleet(config: Config, db: Db, log: Log): Promise<{ bus: Bus; identity: Identity }> {
  const bus = await Bus.open({ databaseUrl: config.databaseUrl, log, alone: config.databaseEmbedded });
  try {
    return { bus, identity: await holdIdentity(db, config, () => bus.others()) };
  } catch (error) {
    await bus.close();
    throw error;
  }
}

const KEYS_REPLACED = {
  verb: "fleet.replaceKeys",
  entity: "fleet",
  entityId: "1",
  reason: "HELM_REPLACE_KEYS was set at a start.",
} as const;

interface Beside {
  /** Control planes that run on this database already. */
  others: number;
  keysReplaced: boolean;
}

const BOOT_LOCK = 7_210_116_022;

/** Leases get a full period, brought tokens are kept, seeds are sown, and the first documents are written. */
async function prepare(services: Services, setupToken: string, beside: Beside): Promise<void> {
  await inTransaction(
    systemContext(services, "boot"),
    { audited: false, publish: true, timeoutMs: STARTING.timeout },
    async (ctx) => {
      // Two that start together do this one after the other.
      await ctx.db.$executeRaw`SELECT pg_advisory_xact_lock(${BOOT_LOCK}::bigint)`;
      // Where another control plane was there all the time, silence was the worker's own.
      if (beside.others === 0) await renewAllLeases(ctx);
      if (beside.keysReplaced) await writeAudit(ctx, KEYS_REPLACED);
      await offerSetupToken(ctx, setupToken, beside.others === 0);
      for (const { kind, token } of services.config.bootstrapTokens) {
        const known = await ctx.db.joinToken.findUnique({ where: { hash: hashSecret(token) } });
        if (!known) await storeJoinToken(ctx, kind, token);
      }
    },
  );
  if (services.config.seeds.includes("bundled")) {
    await inTransaction(
      systemContext(services, "seed"),
      { audited: false, publish: true, timeoutMs: STARTING.timeout },
      async (ctx) => {
        await ctx.db.$executeRaw`SELECT pg_advisory_xact_lock(${BOOT_LOCK}::bigint)`;
        await seedBundled(ctx);
      },
    );
  }
}

function startTimers(services: Services): NodeJS.Timeout[] {
  const sweepMs = Math.max(250, Math.min(5_000, services.config.leaseMs / 4));
  const watch = new LeaseWatch(services.config.leaseMs);
  return [
    every(
      sweepMs,
      services,
      "sweeper",
      async (ctx) => {
        if (watch.mustRenew()) {
          ctx.log.warn("leases are renewed: nobody looked for long, or the database's clock jumped");
          // Committed before any is judged.
          await inTransaction(ctx, { audited: false, publish: false }, renewAllLeases);
          watch.renewed();
        }
        await sweepRuns(ctx);
        await sweepDrains(ctx);
        await sweepParks(ctx);
        await sweepInspections(ctx);
        await refreshWaiting(ctx);
      },
      async () => watch.look(await databaseNow(services.db)),
    ),
    every(10 * 60_000, services, "rate-limits", (ctx) => sweepRateLimits(ctx.db)),
    // Outside a transaction: a store may be slow, and the database is not to wait for it.
    repeat(60_000, services, "uploads", () => sweepUploads(systemContext(services, "uploads"))),
    repeat(60_000, services, "deleted-files", () => sweepDeleted(services)),
    every(60_000, services, "playground", (ctx) => expireRuns(ctx)),
    every(60_000, services, "traces", (ctx) => expireTraces(ctx)),
    every(10_000, services, "counters", (ctx) => compactStats(ctx)),
    every(60_000, services, "access-list", (ctx) => publishAccessList(ctx, ACCESS_LIST_MAX_AGE_MS)),
  ];
}

function sweepDeleted(services: Services): Promise<void> {
  return sweepDeletedFiles(systemContext(services, "deleted-files"));
}

/** One tick at a time over all control planes: who finds another at it leaves it to that one. */
function every(
  ms: number,
  services: Services,
  name: string,
  work: (ctx: Context) => Promise<unknown>,
  /** Done at every tick, also where another control plane does the work. */
  first: () => Promise<void> = async () => {},
): NodeJS.Timeout {
  const alone = async (ctx: Context) => {
    const [lock] = await ctx.db.$queryRaw<{ held: boolean }[]>`
      SELECT pg_try_advisory_xact_lock(${TIMER_LOCKS}::int, hashtext(${name})) AS held`;
    if (lock?.held) await work(ctx);
  };
  return repeat(ms, services, name, async () => {
    await first();
    await inTransaction(systemContext(services, name), { audited: false, publish: false }, alone);
  });
}

/** A tick that fails is logged and the next one tries again; ticks never overlap. */
function repeat(ms: number, services: Services, name: string, work: () => Promise<unknown>): NodeJS.Timeout {
  let busy = false;
  return setInterval(() => {
    if (busy) return;
    busy = true;
    work()
      .catch((error: unknown) => services.log.warn({ err: error, timer: name }, "a timer's work failed"))
      .finally(() => {
        busy = false;
      });
  }, ms);
}

function listen(http: HttpServer, config: Config): Promise<string> {
  return new Promise((resolve, reject) => {
    http.once("error", reject);
    http.listen(config.port, config.bind, () => {
      const { port } = http.address() as AddressInfo;
      const host = config.bind.includes(":") ? `[${config.bind}]` : config.bind;
      resolve(`http://${host}:${port}`);
    });
  });
}

interface Running {
  http: HttpServer;
  io: Server;
  hub: Hub;
  bus: Bus;
  db: Db;
  timers: NodeJS.Timeout[];
}

async function stop({ http, io, hub, bus, db, timers }: Running): Promise<void> {
  for (const timer of timers) clearInterval(timer);
  hub.close();
  await io.close();
  await bus.close();
  http.closeAllConnections();
  await db.$disconnect();
}
