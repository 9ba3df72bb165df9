import { z } from "zod";
import { mutation, query, router } from "../trpc/procedure";
import { CreateJoinTokenInput, CreateJoinTokenOutput, createJoinToken } from "./create-join-token";
import { listNodes, listWorkers, NodeRow, WorkerRow } from "./list";
import { RevokeHostInput, RevokeHostOutput, revokeHost } from "./revoke";

export const hostRouter = router({
  createJoinToken: mutation
    .input(CreateJoinTokenInput)
    .output(CreateJoinTokenOutput)
    .mutation(createJoinToken),
  revoke: mutation.input(RevokeHostInput).output(RevokeHostOutput).mutation(revokeHost),
});
export const workerRouter = router({
  list: query.output(z.array(WorkerRow)).query(({ ctx }) => listWorkers(ctx)),
});
export const nodeRouter = router({
  list: query.output(z.array(NodeRow)).query(({ ctx }) => listNodes(ctx)),
});
