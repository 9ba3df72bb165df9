-- The list of runs with one verdict, newest first, however few have it.
CREATE INDEX "calibration_verdict_created_at_idx" ON "calibration" ("verdict", "created_at" DESC);
