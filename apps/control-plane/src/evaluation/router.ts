import { z } from "zod";
import { mutation, query, router } from "../trpc/procedure";
import { EvaluationOut, ListEvaluationsInput, listEvaluations } from "./list";
import { RecordEvaluationInput, RecordEvaluationOutput, recordEvaluation } from "./record";

export const evaluationRouter = router({
  list: query.input(ListEvaluationsInput).output(z.array(EvaluationOut)).query(listEvaluations),
  record: mutation.input(RecordEvaluationInput).output(RecordEvaluationOutput).mutation(recordEvaluation),
});
