import { z } from "zod";
import { mutation, query, router } from "../trpc/procedure";
import { CreateJoinTokenInput, CreateJoinTokenOutput, createJoinToken } from "./create-join-token";
import { getNode } from "./get-node";
import {
  CancelJoinTokenInput,
  CancelJoinTokenOutput,
  cancelJoinToken,
  JoinTokenOut,
  listJoinTokens,
} from "./join-tokens";
import { listNodes, listWorkers, NodeRow, WorkerRow } from "./list";
import { AcksInput, AcksOutput, listNodeAcks } from "./node-acks";
import { DrainInput, drainNode, NodeIdInput, OrdersOutput, repeatCanary, undrainNode } from "./orders";
import { RevokeHostInput, RevokeHostOutput, revokeHost } from "./revoke";

export const hostRouter = router({
  createJoinToken: mutation
    .input(CreateJoinTokenInput)
    .output(CreateJoinTokenOutput)
    .mutation(createJoinToken),
  joinTokens: query.output(z.array(JoinTokenOut)).query(({ ctx }) => listJoinTokens(ctx)),
  cancelJoinToken: mutation
    .input(CancelJoinTokenInput)
    .output(CancelJoinTokenOutput)
    .mutation(cancelJoinToken),
  revoke: mutation.input(RevokeHostInput).output(RevokeHostOutput).mutation(revokeHost),
});
export const workerRouter = router({
  list: query.output(z.array(WorkerRow)).query(({ ctx }) => listWorkers(ctx)),
});
export const nodeRouter = router({
  list: query.output(z.array(NodeRow)).query(({ ctx }) => listNodes(ctx)),
  get: query.input(NodeIdInput).output(NodeRow).query(getNode),
  acks: query.input(AcksInput).output(AcksOutput).query(listNodeAcks),
  drain: mutation.input(DrainInput).output(OrdersOutput).mutation(drainNode),
  undrain: mutation.input(NodeIdInput).output(OrdersOutput).mutation(undrainNode),
  canary: mutation.input(NodeIdInput).output(OrdersOutput).mutation(repeatCanary),
});
