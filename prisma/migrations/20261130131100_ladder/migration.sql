-- Load ladders: what a node's gateway did under more and more clients, recorded by a person.

CREATE TABLE "ladder" (
  "id" UUID NOT NULL,
  "node_id" UUID,
  "model" TEXT NOT NULL,
  "sha256" TEXT NOT NULL,
  "result" JSONB NOT NULL,
  "recorded_by" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "ladder_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "ladder_sha256_key" ON "ladder" ("sha256");
CREATE INDEX "ladder_node_id_idx" ON "ladder" ("node_id");

ALTER TABLE "ladder" ADD CONSTRAINT "ladder_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "host" ("id") ON DELETE SET NULL ON UPDATE CASCADE;
