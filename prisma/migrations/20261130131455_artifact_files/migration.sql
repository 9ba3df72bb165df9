-- A run that an administrator brought from another host, and an artifact whose file was deleted.
ALTER TABLE "calibration" ADD COLUMN "imported" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "artifact" ADD COLUMN "deleted_at" TIMESTAMPTZ(3);
