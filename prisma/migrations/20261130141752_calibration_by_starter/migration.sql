-- The list of runs by who started them, newest first, and who there is to choose from.
CREATE INDEX "calibration_started_by_id_idx" ON "calibration" ("started_by", "id" DESC);
