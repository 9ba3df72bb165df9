import { z } from "zod";
import { mutation, query, router } from "../trpc/procedure";
import { LadderOut, ListLaddersInput, listLadders } from "./list";
import { RecordLadderInput, RecordLadderOutput, recordLadder } from "./record";

export const ladderRouter = router({
  list: query.input(ListLaddersInput).output(z.array(LadderOut)).query(listLadders),
  record: mutation.input(RecordLadderInput).output(RecordLadderOutput).mutation(recordLadder),
});
