-- A judge's calibrations, and which of them a route judges by.

CREATE TABLE "judge_table" (
  "id" UUID NOT NULL,
  "pair_id" UUID NOT NULL,
  "calibration_id" UUID,
  "sha256" TEXT NOT NULL,
  "table" JSONB NOT NULL,
  "created_by" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "judge_table_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "judge_table_pair_id_sha256_key" ON "judge_table" ("pair_id", "sha256");
CREATE INDEX "judge_table_calibration_id_idx" ON "judge_table" ("calibration_id");

ALTER TABLE "judge_table" ADD CONSTRAINT "judge_table_pair_id_fkey" FOREIGN KEY ("pair_id") REFERENCES "pair" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "judge_table" ADD CONSTRAINT "judge_table_calibration_id_fkey" FOREIGN KEY ("calibration_id") REFERENCES "calibration" ("id") ON DELETE SET NULL ON UPDATE CASCADE;

ALTER TABLE "route" ADD COLUMN "judge_table_id" UUID;
ALTER TABLE "route" ADD COLUMN "escalation_rate" DOUBLE PRECISION;
ALTER TABLE "route" ADD COLUMN "quality_floor" DOUBLE PRECISION;
ALTER TABLE "route" ADD CONSTRAINT "route_judge_choice" CHECK (
  num_nonnulls("escalation_rate", "quality_floor") = num_nonnulls("judge_table_id")
);
CREATE INDEX "route_judge_table_id_idx" ON "route" ("judge_table_id");
ALTER TABLE "route" ADD CONSTRAINT "route_judge_table_id_fkey" FOREIGN KEY ("judge_table_id") REFERENCES "judge_table" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
