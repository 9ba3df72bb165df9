import { RoutingSnapshot } from "@helm/contracts";
import { z } from "zod";
import { RoutingDifference } from "./diff-routing";

export const Ack = z.object({
  nodeId: z.uuid(),
  node: z.string(),
  ok: z.boolean(),
  reason: z.string().nullable(),
  /** For a nack: what the node kept instead. */
  kept: z.number().int().nullable(),
  at: z.date(),
});

export const SnapshotRow = z.object({
  generation: z.number().int(),
  sha256: z.string(),
  createdAt: z.date(),
  /** Who caused it; null for generations from before this was kept. */
  actor: z.object({ kind: z.string(), name: z.string() }).nullable(),
  /** What was done, as the audit names it. */
  verbs: z.array(z.string()),
  note: z.string().nullable(),
  requestId: z.string(),
  rolledBackTo: z.number().int().nullable(),
  acks: z.array(Ack),
});
export type SnapshotRow = z.infer<typeof SnapshotRow>;

export const SnapshotOut = SnapshotRow.extend({
  content: RoutingSnapshot,
  /** The document as it was signed. */
  document: z.string(),
  signature: z.string(),
  newest: z.boolean(),
  /** Against the generation before it. */
  differences: z.array(RoutingDifference),
});

const NodeStand = z.object({
  id: z.uuid(),
  name: z.string(),
  connected: z.boolean(),
  acked: z.number().int(),
  active: z.number().int(),
  /** What it said to the newest generation; null: nothing yet. */
  answer: Ack.pick({ ok: true, reason: true, kept: true, at: true }).nullable(),
  access: z.number().int(),
  accessNackReason: z.string().nullable(),
});

export const SnapshotState = z.object({
  generation: z.number().int(),
  createdAt: z.date().nullable(),
  hold: z
    .object({
      generation: z.number().int(),
      by: z.string(),
      at: z.date(),
      note: z.string().nullable(),
      /** What the settings say otherwise, and what a release would bring. */
      differences: z.array(RoutingDifference),
    })
    .nullable(),
  access: z.object({
    version: z.number().int(),
    issuedAt: z.date().nullable(),
    killSwitch: z.boolean(),
    keys: z.number().int(),
    tenants: z.number().int(),
    helmOffAfterS: z.number().int(),
    refuseKeysAfterS: z.number().int(),
  }),
  nodes: z.array(NodeStand),
});
