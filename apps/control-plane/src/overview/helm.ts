import { FallbackReason, HardwareVerdict } from "@helm/contracts";
import { z } from "zod";
import type { Context } from "../context";
import { listNodes, listWorkers } from "../host/list";
import { listRoutes, RouteOut } from "../route/schema";
import { readPairFacts } from "./route-facts";
import { describeTurningOn } from "./turning-on";

export const HelmOverview = z.object({
  enabled: z.boolean(),
  revision: z.number().int(),
  killSwitch: z.boolean(),
  developmentMode: z.boolean(),
  hardware: z.object({
    verdict: HardwareVerdict,
    sentence: z.string(),
    nodesAllowed: z.number().int(),
    nodesTotal: z.number().int(),
    workersTotal: z.number().int(),
  }),
  pairs: z.object({ eligible: z.number().int(), total: z.number().int() }),
  tenants: z.object({ enabled: z.number().int(), total: z.number().int(), names: z.array(z.string()) }),
  configuration: z.object({
    generation: z.number().int(),
    ackedNodes: z.number().int(),
    activeNodes: z.number().int(),
    nodesTotal: z.number().int(),
    /** Connected nodes on which the route's pair is READY under the newest generation. */
    routableNow: z.number().int(),
  }),
  /** The default route, and all of them with what their pair is worth now. */
  route: RouteOut.nullable(),
  routes: z.array(
    RouteOut.extend({
      refusal: FallbackReason.nullable(),
      readyNodes: z.number().int(),
      connectedNodes: z.number().int(),
    }),
  ),
  turningOnWouldChange: z.string(),
  gate: z.number(),
  gateOn: z.enum(["lower", "point"]),
});

type Node = Awaited<ReturnType<typeof listNodes>>[number];

export async function readHelmOverview(ctx: Context): Promise<z.infer<typeof HelmOverview>> {
  const setting = await ctx.db.setting.findUniqueOrThrow({ where: { id: 1 } });
  const nodes = await listNodes(ctx);
  const workers = await listWorkers(ctx);
  const facts = await readPairFacts(ctx, nodes);
  const routes = (await listRoutes(ctx)).map((route) => {
    const pair = facts.get(route.pairId);
    return {
      ...route,
      refusal: pair ? pair.refusal : ("NOT_CALIBRATED" as const),
      readyNodes: pair?.ready ?? 0,
      connectedNodes: pair?.connected ?? 0,
    };
  });
  const route = routes[0] ?? null;
  const pairs = await ctx.db.pair.findMany({ select: { status: true } });
  const tenants = await ctx.db.tenant.findMany({ where: { archivedAt: null }, orderBy: { name: "asc" } });
  const enabled = tenants.filter((tenant) => tenant.enabled).map((tenant) => tenant.name);
  const connected = nodes.filter((node) => node.connected);
  const desired = nodes[0]?.generation.desired ?? (await newestGeneration(ctx));
  return {
    enabled: setting.helmEnabled,
    revision: setting.revision,
    killSwitch: setting.killSwitch,
    developmentMode: [...nodes, ...workers].some((host) => host.connected && host.development),
    hardware: { ...fleetHardware(nodes), nodesTotal: nodes.length, workersTotal: workers.length },
    pairs: { eligible: pairs.filter((pair) => pair.status === "ELIGIBLE").length, total: pairs.length },
    tenants: { enabled: enabled.length, total: tenants.length, names: enabled },
    configuration: {
      generation: desired,
      ackedNodes: connected.filter((node) => node.generation.acked === desired).length,
      activeNodes: connected.filter((node) => node.generation.active === desired).length,
      nodesTotal: nodes.length,
      routableNow: route?.readyNodes ?? 0,
    },
    route,
    routes,
    turningOnWouldChange: describeTurningOn({ routes, facts, tenants, killSwitch: setting.killSwitch }),
    gate: setting.gate,
    gateOn: setting.gateOn,
  };
}

async function newestGeneration(ctx: Context): Promise<number> {
  const newest = await ctx.db.routingSnapshot.findFirst({
    orderBy: { generation: "desc" },
    select: { generation: true },
  });
  return newest?.generation ?? 0;
}

/** The best verdict among the nodes: one allowed GPU is enough for Helm to be used there. */
function fleetHardware(nodes: Node[]) {
  const nodesAllowed = nodes.filter((node) => node.hardware === "allowed").length;
  const best =
    nodes.find((node) => node.hardware === "allowed") ??
    nodes.find((node) => node.hardware === "refused") ??
    nodes[0];
  const none = { verdict: "none" as const, sentence: "No node has joined yet." };
  if (!best) return { ...none, nodesAllowed };
  const development = best.hardware === "none" && best.development;
  const sentence = development
    ? `${best.hardwareSentence} Helm runs there on the CPU, for development.`
    : best.hardwareSentence;
  return { verdict: best.hardware, sentence, nodesAllowed };
}
