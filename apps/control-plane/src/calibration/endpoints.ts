import { ClaimRequest, HelmError } from "@helm/contracts";
import { z } from "zod";
import type { Context } from "../context";
import { actingHost } from "../host/acting-host";
import { readJson } from "../http/body";
import type { Endpoint } from "../http/endpoint";
import { sendJson } from "../http/respond";
import { claimInspection, findInspection, finishInspection, heartbeatInspection } from "../inspection/jobs";
import { inTransaction } from "../transaction";
import { appendEvents } from "./append-events";
import { AttemptEvents, AttemptFinish, AttemptHeartbeat } from "./attempt-requests";
import { capabilityOf, claimCalibration, noteWaiting } from "./claim";
import { finishCalibration } from "./finish";
import { heartbeat } from "./heartbeat";

const SMALL = 256 * 1024;
const EVENTS = 16 * 1024 * 1024;
const step = { audited: false, publish: false };

function jobId(params: Record<string, string>): string {
  const id = z.uuid().safeParse(params.id);
  if (!id.success) throw new HelmError("NOT_FOUND", "There is no such job.");
  return id.data;
}

/** Keeps what the worker offers, then looks for the shortest work first. */
async function claimNext(ctx: Context, input: ClaimRequest) {
  const host = await ctx.db.host.findUniqueOrThrow({ where: { id: actingHost(ctx, "worker").id } });
  const capability = capabilityOf(host.device, input);
  const offers = {
    models: input.models,
    corpora: input.corpora,
    devices: input.devices,
    waiting: input.waiting ?? null,
  };
  if (JSON.stringify(host.offers) !== JSON.stringify(offers))
    await ctx.db.host.update({ where: { id: host.id }, data: { offers } });
  if (input.waiting) {
    await noteWaiting(ctx, capability, input.waiting);
    return null;
  }
  return (
    (await claimInspection({ ctx, input: capability })) ??
    (await claimCalibration({ ctx, input: capability }))
  );
}

export const workerEndpoints: Endpoint[] = [
  {
    method: "POST",
    path: "/api/worker/claim",
    caller: "worker",
    handle: async ({ req, res, ctx }) => {
      const input = await readJson(req, ClaimRequest, SMALL);
      const job = await inTransaction(ctx, step, (inner) => claimNext(inner, input));
      if (job) return sendJson(res, 200, job);
      res.writeHead(204).end();
    },
  },
  {
    method: "POST",
    path: "/api/worker/jobs/:id/heartbeat",
    caller: "worker",
    handle: async ({ req, res, ctx, params }) => {
      const input = { ...(await readJson(req, AttemptHeartbeat, SMALL)), id: jobId(params) };
      const answer = await inTransaction(ctx, step, async (inner) =>
        (await findInspection(inner, input.id))
          ? heartbeatInspection({ ctx: inner, input })
          : heartbeat({ ctx: inner, input }),
      );
      sendJson(res, 200, answer);
    },
  },
  {
    method: "POST",
    path: "/api/worker/jobs/:id/events",
    caller: "worker",
    handle: async ({ req, res, ctx, params }) => {
      const input = await readJson(req, AttemptEvents, EVENTS);
      if (input.job !== jobId(params)) throw new HelmError("BAD_REQUEST", "The batch is of another job.");
      sendJson(res, 200, await inTransaction(ctx, step, (inner) => appendEvents({ ctx: inner, input })));
    },
  },
  {
    method: "POST",
    path: "/api/worker/jobs/:id/finish",
    caller: "worker",
    handle: async ({ req, res, ctx, params }) => {
      const input = { ...(await readJson(req, AttemptFinish, SMALL)), id: jobId(params) };
      const state = await inTransaction(ctx, { audited: true, publish: true }, async (inner) =>
        (await findInspection(inner, input.id))
          ? finishInspection({ ctx: inner, input })
          : finishCalibration({ ctx: inner, input }),
      );
      sendJson(res, 200, state);
    },
  },
];
