import { z } from "zod";
import { mutation, query, router } from "../trpc/procedure";
import { CreateRouteInput, createRoute } from "./create";
import { PreviewRouteInput, PreviewRouteOutput, previewRoute } from "./preview";
import { RemoveRouteInput, RemoveRouteOutput, removeRoute } from "./remove";
import { listRoutes, RouteOut, readRoute } from "./schema";
import { UpdateRouteInput, updateRoute } from "./update";

export const routeRouter = router({
  list: query.output(z.array(RouteOut)).query(({ ctx }) => listRoutes(ctx)),
  get: query
    .input(z.object({ name: z.string().optional() }).default({}))
    .output(RouteOut.nullable())
    .query(({ ctx, input }) => readRoute(ctx, input.name)),
  preview: query.input(PreviewRouteInput).output(PreviewRouteOutput).query(previewRoute),
  create: mutation.input(CreateRouteInput).output(RouteOut).mutation(createRoute),
  update: mutation.input(UpdateRouteInput).output(RouteOut).mutation(updateRoute),
  remove: mutation.input(RemoveRouteInput).output(RemoveRouteOutput).mutation(removeRoute),
});
