import { query, router } from "../trpc/procedure";
import { HelmOverview, readHelmOverview } from "./helm";

export const overviewRouter = router({
  helm: query.output(HelmOverview).query(({ ctx }) => readHelmOverview(ctx)),
});
