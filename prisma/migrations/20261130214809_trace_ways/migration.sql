-- Which ways go together, and where they stand: of kept answers without a transfer there is hardly one, which the planner cannot know
-- from each alone, and to find none it would read every kept one.
CREATE INDEX "request_trace_ways_idx" ON "request_trace" ("decision", "transfer", "reason", "kept");
CREATE STATISTICS "request_trace_ways" (mcv)
  ON "decision", "transfer", "reason", "kept" FROM "request_trace";
