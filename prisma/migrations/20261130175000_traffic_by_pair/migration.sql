-- A month of one tenant or of one pair, out of years of hours.
DROP INDEX "request_stat_hour_tenant_id_idx";
CREATE INDEX "request_stat_hour_tenant_id_bucket_idx" ON "request_stat_hour" ("tenant_id", "bucket");
CREATE INDEX "request_stat_hour_pair_id_bucket_idx" ON "request_stat_hour" ("pair_id", "bucket");
CREATE INDEX "escalation_length_pair_id_bucket_idx" ON "escalation_length" ("pair_id", "bucket");

-- Minutes whose nodes still stand apart.
CREATE INDEX "request_stat_apart_idx" ON "request_stat" ("bucket") WHERE "node_id" <> '';

-- How many ways there are: far fewer than tenants times pairs times reasons, or the planner sorts what it could hash.
CREATE STATISTICS "request_stat_ways" (ndistinct)
  ON "tenant_id", "pair_id", "decision", "reason", "transfer" FROM "request_stat";
CREATE STATISTICS "request_stat_hour_ways" (ndistinct)
  ON "tenant_id", "pair_id", "decision", "reason", "transfer" FROM "request_stat_hour";

-- Requests by an error that few had, and by why they were sent.
CREATE INDEX "request_trace_error_code_at_idx" ON "request_trace" ("error_code", "at" DESC, "id" DESC);
CREATE INDEX "request_trace_kept_at_idx" ON "request_trace" ("kept", "at" DESC, "id" DESC);
