import type { FallbackReason } from "@helm/contracts";
import type { Context } from "../context";
import { listNodes } from "../host/list";
import { compileRouting } from "../snapshot/compile-routing";

/** What a pair is worth to a route right now: who answers, why it may not be used, on how many nodes it is ready. */
export interface PairFacts {
  pilot: string;
  target: string;
  refusal: FallbackReason | null;
  development: boolean;
  /** Connected nodes on which the pair is READY under the newest generation. */
  ready: number;
  connected: number;
}

export type Nodes = Awaited<ReturnType<typeof listNodes>>;

/** By pair id, from what nodes are told and what they answered. */
export async function readPairFacts(ctx: Context, known?: Nodes): Promise<Map<string, PairFacts>> {
  const nodes = known ?? (await listNodes(ctx));
  const connected = nodes.filter((node) => node.connected);
  const { pairs } = await compileRouting(ctx.db);
  return new Map(
    pairs.map(({ id, pilot, target, refusal, development }) => {
      const ready = connected.filter((node) => isReadyFor(node, id)).length;
      return [id, { pilot, target, refusal, development, ready, connected: connected.length }];
    }),
  );
}

function isReadyFor(node: Nodes[number], pairId: string): boolean {
  if (node.generation.active !== node.generation.desired) return false;
  return node.readiness?.pairs.some((pair) => pair.pair_id === pairId && pair.state === "READY") ?? false;
}
