import { z } from "zod";
import { mutation, query, router } from "../trpc/procedure";
import { DriftOut, ListDriftInput, listDrift } from "./list";
import { RecordDriftInput, RecordDriftOutput, recordDrift } from "./record";

export const driftRouter = router({
  list: query.input(ListDriftInput).output(z.array(DriftOut)).query(listDrift),
  record: mutation.input(RecordDriftInput).output(RecordDriftOutput).mutation(recordDrift),
});
