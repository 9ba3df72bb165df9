import { ModelFacts } from "@helm/contracts";
import { z } from "zod";
import { databaseNow } from "../database-clock";
import { isConnected, Offers } from "../host/list";
import { query, router } from "../trpc/procedure";

const ModelOut = z.object({
  id: z.string(),
  /** Connected workers that offer it. */
  workers: z.number().int(),
  facts: ModelFacts.nullable(),
  inspectedAt: z.date().nullable(),
});

export const modelRouter = router({
  list: query.output(z.array(ModelOut)).query(async ({ ctx }) => {
    const now = await databaseNow(ctx.db);
    const hosts = await ctx.db.host.findMany({ where: { kind: "worker", revokedAt: null } });
    const workers = hosts.filter((host) => isConnected(host, now));
    const known = await ctx.db.model.findMany();
    const offered = workers.map((worker) => Offers.parse(worker.offers).models ?? []);
    const ids = [...new Set([...offered.flat(), ...known.map((model) => model.name)])].sort();
    return ids.map((id) => {
      const model = known.find((row) => row.name === id);
      return {
        id,
        workers: offered.filter((models) => models.includes(id)).length,
        facts: model ? ModelFacts.parse(model.facts) : null,
        inspectedAt: model?.inspectedAt ?? null,
      };
    });
  }),
});
