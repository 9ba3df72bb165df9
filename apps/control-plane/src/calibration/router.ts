import { z } from "zod";
import { DrainReach, DrainReachInput, readDrainReach } from "../park/drain-reach";
import { mutation, query, router } from "../trpc/procedure";
import { CalibrationIdInput, CalibrationStateOutput, cancelCalibration } from "./cancel";
import { CompareCalibrationsInput, CompareCalibrationsOutput, compareCalibrations } from "./compare";
import {
  CalibrationEventsInput,
  CalibrationEventsOutput,
  GetCalibrationInput,
  getCalibration,
  ListCalibrationsInput,
  ListCalibrationsOutput,
  listCalibrationEvents,
  listCalibrations,
  listStarters,
} from "./list";
import { retryCalibration } from "./retry";
import { CalibrationOut } from "./schema";
import { StartCalibrationInput, StartCalibrationOutput, startCalibration } from "./start";

export const calibrationRouter = router({
  list: query.input(ListCalibrationsInput).output(ListCalibrationsOutput).query(listCalibrations),
  starters: query.output(z.array(z.string())).query(({ ctx }) => listStarters(ctx)),
  get: query.input(GetCalibrationInput).output(CalibrationOut).query(getCalibration),
  events: query.input(CalibrationEventsInput).output(CalibrationEventsOutput).query(listCalibrationEvents),
  compare: query.input(CompareCalibrationsInput).output(CompareCalibrationsOutput).query(compareCalibrations),
  drainReach: query.input(DrainReachInput).output(DrainReach).query(readDrainReach),
  start: mutation.input(StartCalibrationInput).output(StartCalibrationOutput).mutation(startCalibration),
  cancel: mutation.input(CalibrationIdInput).output(CalibrationStateOutput).mutation(cancelCalibration),
  retry: mutation.input(CalibrationIdInput).output(CalibrationStateOutput).mutation(retryCalibration),
});
