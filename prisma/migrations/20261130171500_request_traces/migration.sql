-- Traces of requests, counters by the hour, and what tenants and settings say of both.

ALTER TABLE "request_stat" ADD COLUMN "shortfall_bytes_sum" DOUBLE PRECISION NOT NULL DEFAULT 0;

-- Minutes are moved here after some hours, summed by the hour and over all nodes: each count stands in one of the two.
CREATE TABLE "request_stat_hour" (
  "bucket" TIMESTAMPTZ(3) NOT NULL,
  "tenant_id" TEXT NOT NULL,
  "pair_id" TEXT NOT NULL,
  "decision" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "transfer" TEXT NOT NULL,
  "requests" BIGINT NOT NULL,
  "tokens_moved" BIGINT NOT NULL,
  "first_token_ms_sum" DOUBLE PRECISION NOT NULL,
  "shortfall_bytes_sum" DOUBLE PRECISION NOT NULL DEFAULT 0,
  CONSTRAINT "request_stat_hour_pkey" PRIMARY KEY ("bucket", "tenant_id", "pair_id", "decision", "reason", "transfer")
);
CREATE INDEX "request_stat_hour_tenant_id_idx" ON "request_stat_hour" ("tenant_id");

-- Escalated answers by the length of their prompt, by the hour: what a transfer saves until the first token.
CREATE TABLE "escalation_length" (
  "bucket" TIMESTAMPTZ(3) NOT NULL,
  "node_id" TEXT NOT NULL,
  "pair_id" TEXT NOT NULL,
  "transfer" TEXT NOT NULL,
  "from_tokens" INTEGER NOT NULL,
  "requests" BIGINT NOT NULL,
  "first_token_ms_sum" DOUBLE PRECISION NOT NULL,
  "first_token_ms_squares" DOUBLE PRECISION NOT NULL,
  CONSTRAINT "escalation_length_pkey" PRIMARY KEY ("bucket", "node_id", "pair_id", "transfer", "from_tokens")
);

-- Prompt and answer stand apart from the rest: they are read by fewer people and expire sooner.
CREATE TABLE "request_trace" (
  "id" TEXT NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL,
  "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "node_id" TEXT NOT NULL,
  "tenant_id" TEXT NOT NULL,
  "pair_id" TEXT NOT NULL,
  "route" TEXT NOT NULL,
  "decision" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "transfer" TEXT NOT NULL,
  "status" INTEGER NOT NULL,
  "error_code" TEXT NOT NULL,
  "kept" TEXT NOT NULL,
  "share_kind" TEXT NOT NULL,
  "document" JSONB NOT NULL,
  "text" JSONB,
  CONSTRAINT "request_trace_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "request_trace_at_idx" ON "request_trace" ("at" DESC, "id" DESC);
CREATE INDEX "request_trace_tenant_id_at_idx" ON "request_trace" ("tenant_id", "at" DESC, "id" DESC);
CREATE INDEX "request_trace_pair_id_at_idx" ON "request_trace" ("pair_id", "at" DESC, "id" DESC);
CREATE INDEX "request_trace_reason_at_idx" ON "request_trace" ("reason", "at" DESC, "id" DESC);
CREATE INDEX "request_trace_received_at_idx" ON "request_trace" ("received_at");
CREATE INDEX "request_trace_share_kind_at_idx" ON "request_trace" ("share_kind", "at" DESC) WHERE "share_kind" <> '';
CREATE INDEX "request_trace_text_idx" ON "request_trace" ("received_at") WHERE "text" IS NOT NULL;

ALTER TABLE "node_state" ADD COLUMN "traces_dropped" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "tenant" ADD COLUMN "trace_text_until" TIMESTAMPTZ(3);
ALTER TABLE "setting" ADD COLUMN "trace_rate" DOUBLE PRECISION NOT NULL DEFAULT 0.05;
ALTER TABLE "setting" ADD COLUMN "trace_days" INTEGER NOT NULL DEFAULT 7;
ALTER TABLE "setting" ADD COLUMN "trace_text_hours" INTEGER NOT NULL DEFAULT 24;

-- One prompt asked from the console or the command line; gone after an hour.
CREATE TABLE "playground_run" (
  "id" UUID NOT NULL,
  "node_id" UUID NOT NULL,
  "person_id" TEXT NOT NULL,
  "state" TEXT NOT NULL,
  "ask" JSONB NOT NULL,
  "answers" JSONB NOT NULL DEFAULT '[]',
  "error" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "deadline_at" TIMESTAMPTZ(3) NOT NULL,
  "ended_at" TIMESTAMPTZ(3),
  CONSTRAINT "playground_run_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "playground_run_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "host" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "playground_run_person_id_created_at_idx" ON "playground_run" ("person_id", "created_at" DESC);
CREATE INDEX "playground_run_created_at_idx" ON "playground_run" ("created_at");
CREATE INDEX "playground_run_node_id_idx" ON "playground_run" ("node_id");
