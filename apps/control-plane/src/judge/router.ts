import { JudgeThreshold } from "@helm/contracts";
import { z } from "zod";
import { mutation, query, router } from "../trpc/procedure";
import { CheckJudgeInput, CheckJudgeOutput, checkJudge } from "./check";
import { FitJudgeInput, fitJudge } from "./fit";
import { ImportJudgeInput, importJudge } from "./import";
import { GetJudgeInput, getJudgeTable, JudgeTablePage, ListJudgeInput, listJudgeTables } from "./list";
import { RemoveJudgeInput, RemoveJudgeOutput, removeJudge } from "./remove";
import { JudgeTableOut } from "./schema";
import { judgeThreshold, ThresholdInput } from "./threshold";

export const judgeRouter = router({
  list: query.input(ListJudgeInput).output(z.array(JudgeTableOut)).query(listJudgeTables),
  get: query.input(GetJudgeInput).output(JudgeTablePage).query(getJudgeTable),
  threshold: query.input(ThresholdInput).output(JudgeThreshold).query(judgeThreshold),
  check: query.input(CheckJudgeInput).output(CheckJudgeOutput).query(checkJudge),
  fit: mutation.input(FitJudgeInput).output(JudgeTableOut).mutation(fitJudge),
  import: mutation.input(ImportJudgeInput).output(JudgeTableOut).mutation(importJudge),
  remove: mutation.input(RemoveJudgeInput).output(RemoveJudgeOutput).mutation(removeJudge),
});
