import { HelmError } from "@helm/contracts";
import type { z } from "zod";
import type { Call } from "../context";
import { listNodes, type NodeRow } from "./list";
import type { NodeIdInput } from "./orders";

export async function getNode({ ctx, input }: Call<z.infer<typeof NodeIdInput>>): Promise<NodeRow> {
  const [node] = await listNodes(ctx, input.id);
  if (!node) throw new HelmError("NOT_FOUND", "There is no such node.");
  return node;
}
