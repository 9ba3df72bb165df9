import { mutation, query, router } from "../trpc/procedure";
import { RouteOut, readRoute } from "./schema";
import { UpdateRouteInput, updateRoute } from "./update";

export const routeRouter = router({
  get: query.output(RouteOut.nullable()).query(({ ctx }) => readRoute(ctx)),
  update: mutation.input(UpdateRouteInput).output(RouteOut).mutation(updateRoute),
});
