import { mutation, query, router } from "../trpc/procedure";
import { DiffSnapshotsInput, DiffSnapshotsOutput, diffSnapshots } from "./diff";
import { GetSnapshotInput, getSnapshot } from "./get";
import { ListSnapshotsInput, ListSnapshotsOutput, listSnapshots } from "./list";
import { ReleaseInput, ReleaseOutput, releaseSnapshot } from "./release";
import { RollbackInput, RollbackOutput, rollbackSnapshot } from "./rollback";
import { SnapshotOut, SnapshotState } from "./schema";
import { readSnapshotState } from "./state";

export const snapshotRouter = router({
  list: query.input(ListSnapshotsInput).output(ListSnapshotsOutput).query(listSnapshots),
  get: query.input(GetSnapshotInput).output(SnapshotOut).query(getSnapshot),
  diff: query.input(DiffSnapshotsInput).output(DiffSnapshotsOutput).query(diffSnapshots),
  state: query.output(SnapshotState).query(({ ctx }) => readSnapshotState(ctx)),
  rollback: mutation.input(RollbackInput).output(RollbackOutput).mutation(rollbackSnapshot),
  release: mutation.input(ReleaseInput).output(ReleaseOutput).mutation(releaseSnapshot),
});
