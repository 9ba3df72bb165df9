-- A request without an answer is filed as it is counted: by what became of it, with its error's code as the reason.
UPDATE "request_trace" SET
  "decision" = CASE
    WHEN "error_code" IN ('kv_memory_short', 'never_fits', 'tenant_quota', 'no_capacity', 'telemetry_stale') THEN 'refused'
    WHEN "status" >= 500 THEN 'failed' ELSE 'client_error' END,
  "reason" = "error_code"
WHERE "decision" = '' AND "error_code" <> '';
DROP INDEX "request_trace_error_code_at_idx";

-- Requests by what became of them, and of their transfer: of some ways there are few, or none.
CREATE INDEX "request_trace_decision_at_idx" ON "request_trace" ("decision", "at" DESC, "id" DESC);
CREATE INDEX "request_trace_transfer_at_idx" ON "request_trace" ("transfer", "at" DESC, "id" DESC);
CREATE INDEX "request_trace_node_id_at_idx" ON "request_trace" ("node_id", "at" DESC, "id" DESC);
