-- Since when a run has waited for its present reason; what a conversation keeps while two mappers carry it up and down.

ALTER TABLE "calibration" ADD COLUMN "waiting_since" TIMESTAMPTZ(3);
UPDATE "calibration" SET "waiting_since" = "created_at" WHERE "state" = 'QUEUED' AND "waiting_reason" IS NOT NULL;

CREATE TABLE "drift" (
  "id" UUID NOT NULL,
  "pair_id" UUID NOT NULL,
  "mapper_id" UUID NOT NULL,
  "reverse_mapper_id" UUID NOT NULL,
  "result" JSONB NOT NULL,
  "development_only" BOOLEAN NOT NULL,
  "recorded_by" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "drift_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "drift_pair_id_created_at_idx" ON "drift" ("pair_id", "created_at" DESC);
CREATE INDEX "drift_mapper_id_idx" ON "drift" ("mapper_id");
CREATE INDEX "drift_reverse_mapper_id_idx" ON "drift" ("reverse_mapper_id");

ALTER TABLE "drift" ADD CONSTRAINT "drift_pair_id_fkey" FOREIGN KEY ("pair_id") REFERENCES "pair" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "drift" ADD CONSTRAINT "drift_mapper_id_fkey" FOREIGN KEY ("mapper_id") REFERENCES "mapper" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "drift" ADD CONSTRAINT "drift_reverse_mapper_id_fkey" FOREIGN KEY ("reverse_mapper_id") REFERENCES "mapper" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
