-- Where a calibration finds its memory, which machine a host is on, and which nodes are parked for which run.

CREATE TYPE "CalibrationRoom" AS ENUM ('beside', 'drain');
ALTER TABLE "calibration" ADD COLUMN "room" "CalibrationRoom" NOT NULL DEFAULT 'beside';
ALTER TABLE "calibration_attempt" ADD COLUMN "drain_until" TIMESTAMPTZ(3);
CREATE INDEX "calibration_attempt_drain_until_idx" ON "calibration_attempt" ("drain_until");
ALTER TABLE "host" ADD COLUMN "machine" TEXT;
CREATE INDEX "host_machine_idx" ON "host" ("machine");

-- A node is parked while it has a row here. A run's rows go with its end, in the same transaction, so that the node is told.
CREATE TABLE "node_park" (
  "node_id" UUID NOT NULL,
  "calibration_id" UUID NOT NULL,
  "orders_revision" INTEGER NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "node_park_pkey" PRIMARY KEY ("node_id", "calibration_id")
);
CREATE INDEX "node_park_calibration_id_idx" ON "node_park" ("calibration_id");
ALTER TABLE "node_park" ADD CONSTRAINT "node_park_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "host" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "node_park" ADD CONSTRAINT "node_park_calibration_id_fkey" FOREIGN KEY ("calibration_id") REFERENCES "calibration" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
