import { type CalibrationRoom, HelmError, NodeReadiness, ServingState } from "@helm/contracts";
import { z } from "zod";
import { offersDevice } from "../calibration/worker-offers";
import type { Call, Context } from "../context";
import { databaseNow } from "../database-clock";
import { isConnected, Offers } from "../host/list";

export const DrainReachInput = z.object({
  pairId: z.uuid(),
  device: z.enum(["auto", "cuda", "rocm", "cpu"]).default("auto"),
});
export const DrainReach = z.object({
  /** One for each connected worker that could take the run. */
  workers: z.array(
    z.object({
      name: z.string(),
      /** False: it has not said which machine it is on, and is given no such run. */
      machineKnown: z.boolean(),
      nodes: z.array(
        z.object({
          id: z.uuid(),
          name: z.string(),
          state: ServingState.nullable(),
          running: z.number().int(),
        }),
      ),
      /** Routes that one of these nodes serves, or would but for a moment, and no other would meanwhile. */
      unserved: z.array(z.string()),
    }),
  ),
});
type Reach = z.infer<typeof DrainReach>;

/** Which nodes a run that drains would park, and which routes that leaves without a node that serves. */
export async function readDrainReach({ ctx, input }: Call<z.infer<typeof DrainReachInput>>): Promise<Reach> {
  const reached = await reachOfEach(ctx, input);
  return { workers: reached.filter(({ connected }) => connected).map(({ reach }) => reach) };
}

/** By each worker that could take the run, connected or not. */
async function reachOfEach(
  ctx: Context,
  input: z.infer<typeof DrainReachInput>,
): Promise<{ connected: boolean; reach: Reach["workers"][number] }[]> {
  const pair = await ctx.db.pair.findUnique({
    where: { id: input.pairId },
    include: { source: { select: { name: true } }, target: { select: { name: true } } },
  });
  if (!pair) throw new HelmError("NOT_FOUND", "There is no such pair.");
  const now = await databaseNow(ctx.db);
  const hosts = await ctx.db.host.findMany({
    where: { revokedAt: null },
    include: { nodeState: { select: { readiness: true } } },
    orderBy: [{ name: "asc" }, { id: "asc" }],
  });
  const nodes = hosts.filter((host) => host.kind === "node" && isConnected(host, now)).map(nodeOf);
  const routes = await readRoutes(ctx);
  const workers = hosts.filter((host) => {
    if (host.kind !== "worker" || !offersDevice(host, input.device)) return false;
    const { models } = Offers.catch({}).parse(host.offers);
    return !models || (models.includes(pair.source.name) && models.includes(pair.target.name));
  });
  return workers.map((worker) => {
    const { name, machine } = worker;
    const there = nodes.filter((node) => machine !== null && node.machine === machine);
    const left = nodes.filter((node) => !there.includes(node));
    const unserved = routes.filter(({ target }) => maybeServed(there, target) && !serves(left, target));
    const reach = {
      name,
      machineKnown: machine !== null,
      nodes: there.map(({ id, name: node, state, running }) => ({ id, name: node, state, running })),
      unserved: unserved.map((route) => route.name),
    };
    return { connected: isConnected(worker, now), reach };
  });
}

interface WantedRun extends z.infer<typeof DrainReachInput> {
  room: CalibrationRoom;
  acceptNoServing: boolean;
}

/** Refuses a run that drains where that would leave a route unserved and nobody said that this is meant. */
export async function requireServed(ctx: Context, run: WantedRun): Promise<void> {
  if (run.room !== "drain" || run.acceptNoServing) return;
  const all = await reachOfEach(ctx, run);
  const present = all.filter(({ connected }) => connected);
  // Where none is there at the moment, one of those that are away takes it later.
  const reached = (present.length > 0 ? present : all).map(({ reach }) => reach);
  const routes = [...new Set(reached.flatMap(({ unserved }) => unserved))];
  if (routes.length === 0) return;
  const names = [...new Set(reached.flatMap(({ nodes }) => nodes.map(({ name }) => name)))];
  throw new HelmError(
    "NONE_WOULD_SERVE",
    `Draining ${names.join(" and ")} would leave ${routes.join(" and ")} without a node that serves: its clients get 503 no_capacity until the run has ended. Start it anew with that confirmed (--accept-no-serving), or calibrate beside the engines.`,
    { routes, nodes: names },
  );
}

type Host = Awaited<ReturnType<Context["db"]["host"]["findMany"]>>[number];
type Node = ReturnType<typeof nodeOf>;

function nodeOf(host: Host & { nodeState: { readiness: unknown } | null }) {
  const readiness = NodeReadiness.safeParse(host.nodeState?.readiness).data;
  return {
    id: host.id,
    name: host.name,
    machine: host.machine,
    drained: host.drain,
    state: readiness?.serving?.state ?? null,
    running: readiness?.serving?.running ?? 0,
    models: (readiness?.engine.models ?? []).map(({ id }) => id),
  };
}

/** Served now, or as soon as a node that was not drained has its engine back, which may be the next moment. */
function maybeServed(nodes: Node[], target: string): boolean {
  return nodes.some(({ drained, models }) => !drained && (models.length === 0 || models.includes(target)));
}

/** The target answers whatever becomes of the pilot, so it is the one that must be there. */
function serves(nodes: Node[], target: string): boolean {
  return nodes.some(({ state, models }) => state === "SERVING" && models.includes(target));
}

async function readRoutes(ctx: Context): Promise<{ name: string; target: string }[]> {
  const routes = await ctx.db.route.findMany({
    select: { name: true, pair: { select: { target: { select: { name: true } } } } },
    orderBy: { name: "asc" },
  });
  return routes.map(({ name, pair }) => ({ name, target: pair.target.name }));
}
