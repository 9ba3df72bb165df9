-- Placement of pairs on nodes, orders to nodes, who caused a generation, and a rollback that holds.

-- A pair without rows here is on every node; with rows, on those nodes alone.
CREATE TABLE "placement" (
  "pair_id" UUID NOT NULL,
  "node_id" UUID NOT NULL,
  "created_by" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "placement_pkey" PRIMARY KEY ("pair_id", "node_id")
);
CREATE INDEX "placement_node_id_idx" ON "placement" ("node_id");
ALTER TABLE "placement" ADD CONSTRAINT "placement_pair_id_fkey" FOREIGN KEY ("pair_id") REFERENCES "pair" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "placement" ADD CONSTRAINT "placement_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "host" ("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "host" ADD COLUMN "drain" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "host" ADD COLUMN "drain_by" TEXT;
ALTER TABLE "host" ADD COLUMN "drain_at" TIMESTAMPTZ(3);
ALTER TABLE "host" ADD COLUMN "canary_number" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "host" ADD COLUMN "orders_revision" INTEGER NOT NULL DEFAULT 0;

ALTER TABLE "routing_snapshot" ADD COLUMN "actor_kind" TEXT;
ALTER TABLE "routing_snapshot" ADD COLUMN "actor_name" TEXT;
ALTER TABLE "routing_snapshot" ADD COLUMN "verbs" TEXT[] DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "routing_snapshot" ADD COLUMN "note" TEXT;
ALTER TABLE "routing_snapshot" ADD COLUMN "rolled_back_to" INTEGER;

-- At most one: while it stands, nodes follow `content` instead of the settings. Text, so that its digest stays the same.
CREATE TABLE "routing_hold" (
  "id" INTEGER NOT NULL DEFAULT 1,
  "generation" INTEGER NOT NULL,
  "content" TEXT NOT NULL,
  "base" TEXT NOT NULL,
  "note" TEXT,
  "held_by" TEXT NOT NULL,
  "held_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "routing_hold_pkey" PRIMARY KEY ("id")
);
ALTER TABLE "routing_hold" ADD CONSTRAINT "routing_hold_one_row" CHECK ("id" = 1);

ALTER TABLE "node_ack" ADD COLUMN "kept_generation" INTEGER;
ALTER TABLE "node_state" ADD COLUMN "access_nack_reason" TEXT;
CREATE INDEX "node_ack_kind_generation_idx" ON "node_ack" ("kind", "generation");
