import { CalibrationRoom, DeviceFacts, HardwareVerdict, NodeReadiness } from "@helm/contracts";
import { hostVerdict } from "@helm/pairing";
import { z } from "zod";
import type { Context } from "../context";
import { databaseNow } from "../database-clock";

const HostRow = z.object({
  id: z.uuid(),
  name: z.string(),
  version: z.string(),
  device: z.enum(["auto", "cuda", "rocm", "cpu"]),
  hardware: HardwareVerdict,
  hardwareSentence: z.string(),
  devices: z.array(DeviceFacts),
  /** Hardware verdict none, started with device cpu. */
  development: z.boolean(),
  connected: z.boolean(),
  lastSeenAt: z.date().nullable(),
  joinedAt: z.date(),
  revokedAt: z.date().nullable(),
});

export const Offers = z.object({
  models: z.array(z.string()).nullish(),
  corpora: z.array(z.string()).nullish(),
  devices: z.array(z.string()).nullish(),
  waiting: z.string().nullish(),
  rooms: z.array(CalibrationRoom).nullish(),
  /** It says which machine it is on, so that the nodes there can be drained for it. */
  drains: z.boolean().nullish(),
  clock_skew_ms: z.number().nullish(),
});

export const WorkerRow = HostRow.extend({
  models: z.array(z.string()),
  corpora: z.array(z.string()),
  /** Why a kind of calibration is missing among its rooms, or why it takes nothing at all where it names none. */
  waiting: z.string().nullable(),
  rooms: z.array(CalibrationRoom).nullable(),
  /** How far its clock is ahead of the database's, in whole ten seconds; null where it has not said its time. */
  clockSkewMs: z.number().nullable(),
  /** Nodes on its machine, by name: a run that drains parks them. Null where it has not said which machine that is. */
  nodesBeside: z.array(z.string()).nullable(),
  runningCalibrationId: z.uuid().nullable(),
});
export const NodeRow = HostRow.extend({
  engine: z.string().nullable(),
  url: z.string().nullable(),
  generation: z.object({ desired: z.number().int(), acked: z.number().int(), active: z.number().int() }),
  access: z.object({ desired: z.number().int(), acked: z.number().int() }),
  nackReason: z.string().nullable(),
  accessNackReason: z.string().nullable(),
  /** What it was last ordered to do; the serving state it reports stands in its readiness. */
  orders: z.object({
    drain: z.boolean(),
    by: z.string().nullable(),
    at: z.date().nullable(),
    canary: z.number().int(),
    revision: z.number().int(),
    /** Calibrations that it is parked for: it comes back when they have ended, or stays drained where `drain` is set. */
    parkedFor: z.array(z.uuid()),
  }),
  readiness: NodeReadiness.nullable(),
  reportedAt: z.date().nullable(),
});
export type NodeRow = z.infer<typeof NodeRow>;

/** Workers poll and nodes are pinged; one that was silent this long is not counted as there. */
const SILENT_MS = 30_000;

type Host = Awaited<ReturnType<Context["db"]["host"]["findMany"]>>[number];

export function isConnected(
  host: Pick<Host, "lastSeenAt" | "connectedAt" | "disconnectedAt" | "revokedAt">,
  /** Of the database, whose times these are. */
  now: Date,
): boolean {
  if (host.revokedAt) return false;
  const hungUp =
    host.disconnectedAt !== null && (host.connectedAt === null || host.disconnectedAt >= host.connectedAt);
  const seen = host.lastSeenAt !== null && now.getTime() - host.lastSeenAt.getTime() < SILENT_MS;
  return seen && !hungUp;
}

function hostRow(host: Host, now: Date): z.infer<typeof HostRow> {
  const devices = z.array(DeviceFacts).parse(host.devices);
  return {
    id: host.id,
    name: host.name,
    version: host.version,
    device: host.device,
    hardware: host.hardware,
    hardwareSentence: hostVerdict(devices).sentence,
    devices,
    development: host.hardware === "none" && host.device === "cpu",
    connected: isConnected(host, now),
    lastSeenAt: host.lastSeenAt,
    joinedAt: host.joinedAt,
    revokedAt: host.revokedAt,
  };
}

export async function listWorkers(ctx: Context): Promise<z.infer<typeof WorkerRow>[]> {
  const hosts = await ctx.db.host.findMany({
    where: { kind: "worker", revokedAt: null },
    include: { attempts: { where: { state: "RUNNING" }, select: { calibrationId: true } } },
    orderBy: [{ name: "asc" }, { id: "asc" }],
  });
  const nodes = await ctx.db.host.findMany({
    where: { kind: "node", revokedAt: null, machine: { not: null } },
    select: { name: true, machine: true },
    orderBy: [{ name: "asc" }, { id: "asc" }],
  });
  const now = await databaseNow(ctx.db);
  return hosts.map((host) => {
    const { machine } = host;
    const beside = nodes.filter((node) => node.machine === machine).map(({ name }) => name);
    const offers = Offers.parse(host.offers);
    return {
      ...hostRow(host, now),
      nodesBeside: machine === null ? null : beside,
      models: offers.models ?? [],
      corpora: offers.corpora ?? [],
      waiting: offers.waiting ?? null,
      rooms: offers.rooms ?? null,
      clockSkewMs: offers.clock_skew_ms ?? null,
      runningCalibrationId: host.attempts[0]?.calibrationId ?? null,
    };
  });
}

/** Nodes that are not revoked; with an id that one alone, revoked or not. */
export async function listNodes(ctx: Context, id?: string): Promise<NodeRow[]> {
  const hosts = await ctx.db.host.findMany({
    where: { kind: "node", ...(id ? { id } : { revokedAt: null }) },
    include: { nodeState: true, parks: { orderBy: { createdAt: "asc" } } },
    orderBy: [{ name: "asc" }, { id: "asc" }],
  });
  const snapshot = await ctx.db.routingSnapshot.findFirst({
    orderBy: { generation: "desc" },
    select: { generation: true },
  });
  const access = await ctx.db.accessListVersion.findFirst({
    orderBy: { version: "desc" },
    select: { version: true },
  });
  const now = await databaseNow(ctx.db);
  return hosts.map((host) => ({
    ...hostRow(host, now),
    engine: host.engine,
    url: host.url,
    generation: {
      desired: snapshot?.generation ?? 0,
      acked: host.nodeState?.ackedGeneration ?? 0,
      active: host.nodeState?.activeGeneration ?? 0,
    },
    access: { desired: access?.version ?? 0, acked: host.nodeState?.accessVersion ?? 0 },
    nackReason: host.nodeState?.nackReason ?? null,
    accessNackReason: host.nodeState?.accessNackReason ?? null,
    orders: {
      drain: host.drain,
      by: host.drainBy,
      at: host.drainAt,
      canary: host.canaryNumber,
      revision: host.ordersRevision,
      parkedFor: host.parks.map(({ calibrationId }) => calibrationId),
    },
    // A report of another version that cannot be read is as good as none.
    readiness: NodeReadiness.safeParse(host.nodeState?.readiness).data ?? null,
    reportedAt: host.nodeState?.reportedAt ?? null,
  }));
}
