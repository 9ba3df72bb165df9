-- Counts beyond the fitted length (split "long") and counts by hand-over point.
ALTER TABLE "sequence_count" ADD COLUMN "multiple" INTEGER NOT NULL DEFAULT 1;
ALTER TABLE "sequence_count" ADD COLUMN "points" JSONB;
-- The same probe may stand at 4 and at 32 times the fitted length.
ALTER TABLE "sequence_count" DROP CONSTRAINT "sequence_count_pkey";
ALTER TABLE "sequence_count" ADD CONSTRAINT "sequence_count_pkey" PRIMARY KEY ("attempt_id", "arm", "split", "multiple", "sequence");
