import { ClaimRequest, HelmError } from "@helm/contracts";
import { z } from "zod";
import type { Context } from "../context";
import { databaseNow } from "../database-clock";
import { standingHost } from "../host/acting-host";
import { readJson } from "../http/body";
import type { Endpoint } from "../http/endpoint";
import { sendJson } from "../http/respond";
import { claimInspection, findInspection, finishInspection, heartbeatInspection } from "../inspection/jobs";
import { inTransaction } from "../transaction";
import { appendEvents } from "./append-events";
import { AttemptEvents, AttemptFinish, AttemptHeartbeat } from "./attempt-requests";
import { capabilityOf, claimCalibration } from "./claim";
import { finishCalibration } from "./finish";
import { heartbeat } from "./heartbeat";
import { keepOffers, refreshWaiting } from "./waiting";

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
  const host = await ctx.db.host.findUniqueOrThrow({ where: { id: (await standingHost(ctx, "worker")).id } });
  if (await keepOffers(ctx, host, input, await skewOf(ctx, input.at))) await refreshWaiting(ctx);
  if (input.waiting && !input.rooms) return null;
  const capability = capabilityOf(host.device, input);
  const inspection = await claimInspection({ ctx, input: capability });
  if (inspection) return inspection;
  return capability.rooms.length === 0 ? null : claimCalibration({ ctx, input: capability });
}

/** In whole ten seconds, so that it does not change with every request. */
async function skewOf(ctx: Context, at: string | null | undefined): Promise<number | null> {
  const said = at ? new Date(at).getTime() : Number.NaN;
  if (Number.isNaN(said)) return null;
  return Math.round((said - (await databaseNow(ctx.db)).getTime()) / 10_000) * 10_000 || 0;
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
