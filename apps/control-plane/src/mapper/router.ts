import { z } from "zod";
import { mutation, query, router } from "../trpc/procedure";
import { activateMapper, MapperIdInput, MapperStateOutput } from "./activate";
import { listMappers, MapperOut } from "./list";
import { retireMapper } from "./retire";

export const mapperRouter = router({
  list: query
    .input(z.object({ pairId: z.uuid().optional() }).default({}))
    .output(z.array(MapperOut))
    .query(({ ctx, input }) => listMappers(ctx, input)),
  activate: mutation.input(MapperIdInput).output(MapperStateOutput).mutation(activateMapper),
  retire: mutation.input(MapperIdInput).output(MapperStateOutput).mutation(retireMapper),
});
