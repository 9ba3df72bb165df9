-- Repeated reports of counters are known by their id, no longer by their time: a node's clock may jump back.
ALTER TABLE "node_state" ADD COLUMN "stats_reports" TEXT[] DEFAULT ARRAY[]::TEXT[];
