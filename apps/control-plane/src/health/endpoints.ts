import type { HelmError } from "@helm/contracts";
import type { Endpoint } from "../http/endpoint";
import { sendJson } from "../http/respond";
import { requireDatabase } from "./database";
import type { Metrics } from "./metrics";
import { requireMetricsAccess } from "./metrics-access";

export function healthEndpoints(metrics: Metrics): Endpoint[] {
  return [
    {
      method: "GET",
      path: "/api/health",
      caller: "public",
      handle: async ({ res, ctx }) => {
        const database = await requireDatabase(ctx.services).then(
          () => true,
          (error: HelmError) => error.code === "DATABASE_BUSY",
        );
        if (!database) res.setHeader("retry-after", "5");
        sendJson(res, database ? 200 : 503, { ok: database, database });
      },
    },
    {
      method: "GET",
      path: "/metrics",
      caller: "public",
      handle: async ({ req, res, ctx }) => {
        requireMetricsAccess(req, ctx.services.config);
        const text = await metrics.registry.metrics();
        res.writeHead(200, { "content-type": metrics.registry.contentType }).end(text);
      },
    },
  ];
}
