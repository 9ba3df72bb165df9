import { FALLBACK_REASONS } from "@helm/contracts";
import type { Context } from "../../context";
import { Failure } from "../../failure";
import { requireServer, type Server } from "../../server/client";
import { pickByName } from "./pick";

export async function placePair(
  context: Context,
  source: string,
  target: string,
  names: string,
): Promise<void> {
  const server = await requireServer(context.config);
  const before = await findPlacement(server, source, target);
  const nodeIds = names
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean)
    .map((name) => pickByName(before.nodes, name, "node").id);
  const { pairId: id, revision } = before;
  tell(context, await server.pair.place.mutate({ id, nodeIds, revision }));
}

export async function unplacePair(context: Context, source: string, target: string): Promise<void> {
  const server = await requireServer(context.config);
  const { pairId: id, revision } = await findPlacement(server, source, target);
  tell(context, await server.pair.unplace.mutate({ id, revision }));
}

async function findPlacement(server: Server, source: string, target: string) {
  const pairs = await server.pair.list.query();
  const pair = pairs.find((one) => one.source.id === source && one.target.id === target);
  if (!pair) {
    const there = pairs.map((one) => `${one.source.id} ${one.target.id}`).join(", ") || "none";
    throw new Failure(1, "NOT_FOUND", `There is no pair ${source} -> ${target}. There are: ${there}.`);
  }
  return server.pair.placement.query({ id: pair.id });
}

type Placement = Awaited<ReturnType<typeof findPlacement>>;

function tell({ screen }: Context, placement: Placement): void {
  screen.answer({ type: "placement", ...placement }, () => [
    `${placement.name} ${placement.refusal ? "is placed" : "may be used"} on ${where(placement)} (revision ${placement.revision}).`,
    ...(placement.refusal
      ? [`It is not used: ${placement.refusal}, ${FALLBACK_REASONS[placement.refusal]}.`]
      : []),
  ]);
}

function where({ placed, developmentOnly, nodes }: Placement): string {
  if (!placed) return developmentOnly ? "every development node" : "every node";
  return (
    nodes
      .filter(({ here }) => here)
      .map(({ name }) => name)
      .join(", ") || "no node"
  );
}
