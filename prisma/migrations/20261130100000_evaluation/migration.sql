-- Task evaluations: what the harness measured with a mapper, recorded by a person.

CREATE TABLE "evaluation" (
  "id" UUID NOT NULL,
  "pair_id" UUID NOT NULL,
  "mapper_id" UUID NOT NULL,
  "result" JSONB NOT NULL,
  "development_only" BOOLEAN NOT NULL,
  "recorded_by" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "evaluation_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "evaluation_pair_id_created_at_idx" ON "evaluation" ("pair_id", "created_at" DESC);
CREATE INDEX "evaluation_mapper_id_idx" ON "evaluation" ("mapper_id");

ALTER TABLE "evaluation" ADD CONSTRAINT "evaluation_pair_id_fkey" FOREIGN KEY ("pair_id") REFERENCES "pair" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "evaluation" ADD CONSTRAINT "evaluation_mapper_id_fkey" FOREIGN KEY ("mapper_id") REFERENCES "mapper" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
