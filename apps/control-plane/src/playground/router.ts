import { mutation, query, router } from "../trpc/procedure";
import { AskInput, AskOutput, askPlayground } from "./ask";
import { cancelRun } from "./cancel";
import { RunInput, readRun } from "./get";
import { PlaygroundRunOut } from "./schema";

export const playgroundRouter = router({
  ask: mutation.input(AskInput).output(AskOutput).mutation(askPlayground),
  get: query.input(RunInput).output(PlaygroundRunOut).query(readRun),
  cancel: mutation.input(RunInput).output(PlaygroundRunOut).mutation(cancelRun),
});
