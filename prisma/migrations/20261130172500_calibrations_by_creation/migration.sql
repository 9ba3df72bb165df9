-- Imported runs were created before rows with smaller ids: lists of runs go by when a run was created.
CREATE INDEX "calibration_created_at_id_idx" ON "calibration" ("created_at" DESC, "id" DESC);
DROP INDEX "calibration_started_by_id_idx";
CREATE INDEX "calibration_started_by_created_at_idx" ON "calibration" ("started_by", "created_at" DESC);
