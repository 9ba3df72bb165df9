import { memoryBudgets, residentParts } from "@helm/contracts";
import type { Context } from "../../context";
import { requireServer, type Server } from "../../server/client";
import { formatBytes, table } from "../../terminal/style";
import { pickByName } from "./pick";
import { waitUntil } from "./poll";

type Node = Awaited<ReturnType<Server["node"]["list"]["query"]>>[number];

export async function listNodes({ config, screen }: Context): Promise<void> {
  const nodes = await (await requireServer(config)).node.list.query();
  screen.answer({ type: "nodes", nodes }, () => {
    if (nodes.length === 0) return ["No node has joined. Make a join token on the page Nodes and workers."];
    const rows = nodes.map((node) => [
      node.name,
      node.connected ? "connected" : "away",
      servingWord(node),
      node.engine ?? "-",
      node.development ? "cpu, development" : node.device,
      `${node.generation.desired} / ${node.generation.acked} / ${node.generation.active}`,
      node.readiness
        ? node.readiness.pairs
            .map((pair) => pair.code ?? readinessWord(pair, node.readiness?.engine.healthy ?? false))
            .join(", ")
        : "-",
      node.url ?? "",
    ]);
    return table(
      ["node", "connection", "serving", "engine", "device", "desired / acked / active", "pairs", "gateway"],
      rows,
    );
  });
}

/** What the node says of itself; beside it the order it has not obeyed yet. */
function servingWord(node: Node): string {
  const serving = node.readiness?.serving;
  const told = node.orders.revision > (serving?.orders_revision ?? 0);
  const { drain, parkedFor } = node.orders;
  const wanted = parkedFor.length > 0 ? "told to park" : drain ? "told to drain" : "told to serve";
  return [serving?.state ?? "not reported", told ? wanted : ""].filter(Boolean).join(", ");
}

export async function showNode({ config, screen }: Context, name: string): Promise<void> {
  const server = await requireServer(config);
  const { id } = pickByName(await server.node.list.query(), name, "node");
  const [node, acks, pairs] = await Promise.all([
    server.node.get.query({ id }),
    server.node.acks.query({ id, limit: 5 }),
    server.pair.list.query(),
  ]);
  screen.answer({ type: "node", node, acks: acks.rows }, () => [
    ...table(["", ""], nodeFacts(node)).slice(1),
    ...(node.readiness?.remarks ?? []),
    "",
    ...table(
      ["pair", "readiness", "transfer pays from (measured here)"],
      (node.readiness?.pairs ?? []).map((pair) => [
        pairs.find((one) => one.id === pair.pair_id)?.name ?? pair.pair_id,
        readinessWord(pair, node.readiness?.engine.healthy ?? false),
        pair.state === "READY" ? (pair.min_tokens ? `${pair.min_tokens} tokens` : "never") : "-",
      ]),
    ),
    "",
    ...table(["memory", "budget", "promised", "used", "measured"], memoryRows(node), [1, 2, 3, 4]),
    ...residentLines(node),
    "",
    ...table(
      ["generation", "answer", "at"],
      acks.rows.map((ack) => [
        String(ack.number),
        ack.ok ? "acked" : `refused, keeps ${ack.kept ?? "?"}: ${ack.reason}`,
        ack.at.toISOString(),
      ]),
    ),
  ]);
}

function nodeFacts(node: Node): string[][] {
  const { generation, access, readiness } = node;
  const canary = readiness?.serving?.canary;
  return [
    ["node", `${node.name} (${node.id})`],
    [
      "connection",
      node.connected ? "connected" : `away, last seen ${node.lastSeenAt?.toISOString() ?? "never"}`,
    ],
    ["engine", `${readiness?.engine.name ?? node.engine ?? "?"}, ${engineWord(readiness)}`],
    ...(readiness?.engine.why_not ? [["", readiness.engine.why_not]] : []),
    ["serving", servingWord(node)],
    ...node.orders.parkedFor.map((run) => ["parked for", `calibration ${run}`]),
    ["canary", canary ? `${canary.ok ? "passed" : `failed: ${canary.reason}`} ${canary.at}` : "not reported"],
    ["generation", `desired ${generation.desired}, acked ${generation.acked}, active ${generation.active}`],
    ["access list", `desired ${access.desired}, acked ${access.acked}`],
    ["refused", [node.nackReason, node.accessNackReason].filter(Boolean).join("; ") || "nothing"],
    ["hardware", `${node.hardware}: ${node.hardwareSentence}`],
    ["version", node.version],
    ["gateway", node.url ?? "not reported"],
  ];
}

function engineWord(readiness: Node["readiness"]): string {
  if (readiness?.serving?.state === "PARKED") return "stopped";
  return readiness?.engine.healthy ? "healthy" : "not healthy";
}

function memoryRows(node: Node): string[][] {
  const memory = node.readiness?.memory;
  if (!memory) return [["not reported", "-", "-", "-", "-"]];
  const bytes = (value: number | null) => (value === null ? "-" : formatBytes(value));
  return memoryBudgets(memory).map(({ what, budget, promised, used, measured }) => [
    what,
    ...[budget, promised, used, measured].map(bytes),
  ]);
}

function residentLines(node: Node): string[] {
  const memory = node.readiness?.memory;
  const parts = memory ? residentParts(memory) : [];
  if (!memory || parts.length === 0) return [];
  const rows = parts.map(({ what, bytes, note }) => [what, formatBytes(bytes), note ?? ""]);
  rows.push(["engine process, resident", formatBytes(memory.process_bytes ?? 0), ""]);
  return ["", ...table(["main memory", "bytes", ""], rows, [1])];
}

/** An order, and with `wait` what became of it. A canary that fails ends with exit code 1. */
export async function orderNode(
  { config, screen }: Context,
  name: string,
  order: "drain" | "undrain" | "canary",
  options: { wait: boolean; reason?: string | undefined },
): Promise<number> {
  const server = await requireServer(config);
  const { id } = pickByName(await server.node.list.query(), name, "node");
  const reason = options.reason ? { reason: options.reason } : {};
  const ordered =
    order === "drain"
      ? await server.node.drain.mutate({ id, ...reason })
      : await server.node[order].mutate({ id });
  if (!options.wait) {
    const when = ordered.connected ? "" : " It is not connected, and obeys when it comes back.";
    screen.answer({ type: "ordered", order, ...ordered }, () => [
      `${ordered.name} was told (${order}, revision ${ordered.revision}).${when}`,
    ]);
    return 0;
  }
  const node = await waitUntil(
    () => server.node.get.query({ id }),
    (found) => hasObeyed(found, order, ordered.revision),
    (found) =>
      `${found.name} is ${servingWord(found)} after five minutes; it is ${found.connected ? "" : "not "}connected.`,
  );
  const serving = node.readiness?.serving;
  screen.answer({ type: "node", node }, () => [
    `${node.name} is ${serving?.state}${serving?.canary?.ok === false ? `: the canary failed (${serving.canary.reason})` : ""}.`,
  ]);
  return order !== "drain" && serving?.canary?.ok === false ? 1 : 0;
}

export function hasObeyed(node: Node, order: "drain" | "undrain" | "canary", revision: number): boolean {
  const serving = node.readiness?.serving;
  if (!serving || serving.orders_revision < revision) return false;
  if (order === "drain") return serving.state === "DRAINED";
  if (order === "undrain") return serving.state === "SERVING" || serving.canary?.ok === false;
  return (serving.canary?.number ?? -1) >= node.orders.canary;
}

export async function revokeNode({ config, screen }: Context, name: string): Promise<void> {
  const server = await requireServer(config);
  const { id } = pickByName(await server.node.list.query(), name, "node");
  await server.host.revoke.mutate({ id });
  screen.answer({ type: "revoked", id, name }, () => [
    `${name} is revoked: its connection is cut and its credential opens nothing any more.`,
  ]);
}

/** What is fetched is tried on the engine: without one that serves, nothing is. */
function readinessWord(
  { state, code }: { state: string; code?: string | null | undefined },
  engineServes: boolean,
): string {
  if (state === "FETCHING" && !engineServes) return "waits for the engine";
  return code ? `${state}:${code}` : state;
}
