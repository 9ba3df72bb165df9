-- First schema: people, pairs, calibrations, mappers, routes, tenants, hosts, what nodes are told, audit.

CREATE TYPE "Role" AS ENUM ('viewer', 'operator', 'admin');
CREATE TYPE "CalibrationState" AS ENUM ('QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'LOST');
CREATE TYPE "InspectionState" AS ENUM ('QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED');
CREATE TYPE "RegistrationState" AS ENUM ('PENDING', 'REGISTERED', 'REFUSED', 'FAILED');
CREATE TYPE "PairStatus" AS ENUM ('ELIGIBLE', 'TRANSFER_INELIGIBLE', 'NOT_CALIBRATED');
CREATE TYPE "MapperState" AS ENUM ('ACTIVE', 'INACTIVE', 'RETIRED');
CREATE TYPE "Verdict" AS ENUM ('CLEARED', 'BELOW_GATE');
CREATE TYPE "GateOn" AS ENUM ('lower', 'point');
CREATE TYPE "StreamingMode" AS ENUM ('buffer', 'window', 'stream');
CREATE TYPE "DeviceChoice" AS ENUM ('auto', 'cuda', 'rocm', 'cpu');
CREATE TYPE "HostKind" AS ENUM ('worker', 'node');
CREATE TYPE "HardwareVerdict" AS ENUM ('allowed', 'refused', 'none');

CREATE TABLE "user" (
  "id" UUID NOT NULL,
  "name" TEXT NOT NULL,
  "email" TEXT NOT NULL,
  "email_verified" BOOLEAN NOT NULL DEFAULT false,
  "image" TEXT,
  "role" "Role" NOT NULL DEFAULT 'viewer',
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "user_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "session" (
  "id" UUID NOT NULL,
  "token" TEXT NOT NULL,
  "user_id" UUID NOT NULL,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  "ip_address" TEXT,
  "user_agent" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "session_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "account" (
  "id" UUID NOT NULL,
  "account_id" TEXT NOT NULL,
  "provider_id" TEXT NOT NULL,
  "user_id" UUID NOT NULL,
  "access_token" TEXT,
  "refresh_token" TEXT,
  "id_token" TEXT,
  "access_token_expires_at" TIMESTAMPTZ(3),
  "refresh_token_expires_at" TIMESTAMPTZ(3),
  "scope" TEXT,
  "password" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "account_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "verification" (
  "id" UUID NOT NULL,
  "identifier" TEXT NOT NULL,
  "value" TEXT NOT NULL,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "verification_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "rate_limit" (
  "id" UUID NOT NULL,
  "key" TEXT NOT NULL,
  "count" INTEGER NOT NULL,
  "last_request" BIGINT NOT NULL,
  CONSTRAINT "rate_limit_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "setting" (
  "id" INTEGER NOT NULL DEFAULT 1,
  "helm_enabled" BOOLEAN NOT NULL DEFAULT false,
  "kill_switch" BOOLEAN NOT NULL DEFAULT false,
  "gate" DOUBLE PRECISION NOT NULL DEFAULT 0.9,
  "gate_on" "GateOn" NOT NULL DEFAULT 'lower',
  "require_beats_pilot" BOOLEAN NOT NULL DEFAULT true,
  "helm_off_after_s" INTEGER NOT NULL DEFAULT 86400,
  "refuse_keys_after_s" INTEGER NOT NULL DEFAULT 604800,
  "revision" INTEGER NOT NULL DEFAULT 1,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "setting_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "model" (
  "id" UUID NOT NULL,
  "name" TEXT NOT NULL,
  "facts" JSONB NOT NULL,
  "weights_sha256" TEXT,
  "tokenizer_sha256" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "inspected_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "model_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "pair" (
  "id" UUID NOT NULL,
  "source_id" UUID NOT NULL,
  "target_id" UUID NOT NULL,
  "control" BOOLEAN NOT NULL,
  "status" "PairStatus" NOT NULL DEFAULT 'NOT_CALIBRATED',
  "gate" DOUBLE PRECISION,
  "revision" INTEGER NOT NULL DEFAULT 1,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "pair_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "pair_registration" (
  "id" UUID NOT NULL,
  "source_model" TEXT NOT NULL,
  "target_model" TEXT NOT NULL,
  "state" "RegistrationState" NOT NULL DEFAULT 'PENDING',
  "causes" JSONB NOT NULL DEFAULT '[]',
  "message" TEXT,
  "pair_id" UUID,
  "source_inspection_id" UUID NOT NULL,
  "target_inspection_id" UUID NOT NULL,
  "requested_by" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "decided_at" TIMESTAMPTZ(3),
  CONSTRAINT "pair_registration_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "inspection" (
  "id" UUID NOT NULL,
  "model" TEXT NOT NULL,
  "state" "InspectionState" NOT NULL DEFAULT 'QUEUED',
  "facts" JSONB,
  "attempt_id" UUID,
  "attempt_number" INTEGER NOT NULL DEFAULT 0,
  "worker_id" UUID,
  "lease_expires_at" TIMESTAMPTZ(3),
  "error_code" TEXT,
  "error_message" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "finished_at" TIMESTAMPTZ(3),
  CONSTRAINT "inspection_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "calibration" (
  "id" UUID NOT NULL,
  "pair_id" UUID NOT NULL,
  "state" "CalibrationState" NOT NULL DEFAULT 'QUEUED',
  "method" TEXT NOT NULL,
  "k" INTEGER NOT NULL,
  "device" "DeviceChoice" NOT NULL,
  "corpus" TEXT NOT NULL,
  "options" JSONB NOT NULL DEFAULT '{}',
  "attempt" INTEGER NOT NULL DEFAULT 0,
  "stage" TEXT,
  "percent" DOUBLE PRECISION NOT NULL DEFAULT 0,
  "rate" DOUBLE PRECISION,
  "unit" TEXT,
  "last_seq" INTEGER NOT NULL DEFAULT 0,
  "last_update_at" TIMESTAMPTZ(3),
  "waiting_reason" TEXT,
  "cancel_requested_at" TIMESTAMPTZ(3),
  "development_only" BOOLEAN NOT NULL DEFAULT false,
  "verdict" "Verdict",
  "error_code" TEXT,
  "error_message" TEXT,
  "exit_code" INTEGER,
  "started_by" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "started_at" TIMESTAMPTZ(3),
  "finished_at" TIMESTAMPTZ(3),
  CONSTRAINT "calibration_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "calibration_attempt" (
  "id" UUID NOT NULL,
  "calibration_id" UUID NOT NULL,
  "number" INTEGER NOT NULL,
  "worker_id" UUID NOT NULL,
  "state" "CalibrationState" NOT NULL DEFAULT 'RUNNING',
  "lease_expires_at" TIMESTAMPTZ(3) NOT NULL,
  "last_seq" INTEGER NOT NULL DEFAULT 0,
  "error_code" TEXT,
  "error_message" TEXT,
  "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "finished_at" TIMESTAMPTZ(3),
  CONSTRAINT "calibration_attempt_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "calibration_event" (
  "attempt_id" UUID NOT NULL,
  "seq" INTEGER NOT NULL,
  "type" TEXT NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL,
  "body" JSONB NOT NULL,
  CONSTRAINT "calibration_event_pkey" PRIMARY KEY ("attempt_id", "seq")
);

CREATE TABLE "sequence_count" (
  "attempt_id" UUID NOT NULL,
  "arm" TEXT NOT NULL,
  "split" TEXT NOT NULL,
  "sequence" TEXT NOT NULL,
  "domain" TEXT NOT NULL,
  "prefixes" INTEGER[],
  "first_agree" INTEGER NOT NULL,
  "first_total" INTEGER NOT NULL,
  "early_agree" INTEGER NOT NULL,
  "early_total" INTEGER NOT NULL,
  "late_agree" INTEGER NOT NULL,
  "late_total" INTEGER NOT NULL,
  "kl_sum" DOUBLE PRECISION,
  "recovered" INTEGER,
  "lost" INTEGER,
  "gold_gain" DOUBLE PRECISION,
  "native_gold_gain" DOUBLE PRECISION,
  CONSTRAINT "sequence_count_pkey" PRIMARY KEY ("attempt_id", "arm", "split", "sequence")
);

CREATE TABLE "score" (
  "calibration_id" UUID NOT NULL,
  "gate" DOUBLE PRECISION NOT NULL,
  "gate_on" "GateOn" NOT NULL,
  "verdict" "Verdict",
  "retention" DOUBLE PRECISION NOT NULL,
  "retention_low" DOUBLE PRECISION NOT NULL,
  "retention_high" DOUBLE PRECISION NOT NULL,
  "assessment" JSONB NOT NULL,
  "scores" JSONB NOT NULL,
  "cost" JSONB NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "score_pkey" PRIMARY KEY ("calibration_id")
);

CREATE TABLE "artifact" (
  "sha256" TEXT NOT NULL,
  "bytes" BIGINT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "artifact_pkey" PRIMARY KEY ("sha256")
);

CREATE TABLE "mapper" (
  "id" UUID NOT NULL,
  "pair_id" UUID NOT NULL,
  "calibration_id" UUID NOT NULL,
  "sha256" TEXT NOT NULL,
  "state" "MapperState" NOT NULL DEFAULT 'INACTIVE',
  "verdict" "Verdict" NOT NULL,
  "warnings" TEXT[],
  "development_only" BOOLEAN NOT NULL,
  "manifest" JSONB NOT NULL,
  "revision" INTEGER NOT NULL DEFAULT 1,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "activated_at" TIMESTAMPTZ(3),
  "retired_at" TIMESTAMPTZ(3),
  CONSTRAINT "mapper_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "route" (
  "id" UUID NOT NULL,
  "name" TEXT NOT NULL,
  "pair_id" UUID NOT NULL,
  "judge_version" TEXT NOT NULL DEFAULT 'logprob-1',
  "mean_logprob" DOUBLE PRECISION NOT NULL,
  "min_logprob" DOUBLE PRECISION NOT NULL,
  "streaming" "StreamingMode" NOT NULL DEFAULT 'window',
  "window" INTEGER NOT NULL DEFAULT 64,
  "default_max_tokens" INTEGER NOT NULL DEFAULT 256,
  "hold_turns" INTEGER,
  "revision" INTEGER NOT NULL DEFAULT 1,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "route_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "tenant" (
  "id" UUID NOT NULL,
  "name" TEXT NOT NULL,
  "enabled" BOOLEAN NOT NULL DEFAULT false,
  "streaming" "StreamingMode",
  "transfer_off" BOOLEAN,
  "revision" INTEGER NOT NULL DEFAULT 1,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "tenant_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "api_key" (
  "id" UUID NOT NULL,
  "tenant_id" UUID NOT NULL,
  "name" TEXT NOT NULL,
  "prefix" TEXT NOT NULL,
  "hash" TEXT NOT NULL,
  "created_by" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "expires_at" TIMESTAMPTZ(3),
  "revoked_at" TIMESTAMPTZ(3),
  "last_used_at" TIMESTAMPTZ(3),
  CONSTRAINT "api_key_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "host" (
  "id" UUID NOT NULL,
  "kind" "HostKind" NOT NULL,
  "name" TEXT NOT NULL,
  "credential_hash" TEXT NOT NULL,
  "version" TEXT NOT NULL,
  "device" "DeviceChoice" NOT NULL,
  "hardware" "HardwareVerdict" NOT NULL,
  "devices" JSONB NOT NULL,
  "engine" TEXT,
  "url" TEXT,
  "offers" JSONB NOT NULL DEFAULT '{}',
  "joined_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "last_seen_at" TIMESTAMPTZ(3),
  "connected_at" TIMESTAMPTZ(3),
  "disconnected_at" TIMESTAMPTZ(3),
  "revoked_at" TIMESTAMPTZ(3),
  CONSTRAINT "host_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "join_token" (
  "id" UUID NOT NULL,
  "kind" "HostKind" NOT NULL,
  "hash" TEXT NOT NULL,
  "created_by" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  "used_at" TIMESTAMPTZ(3),
  "used_by_id" UUID,
  CONSTRAINT "join_token_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "routing_snapshot" (
  "generation" INTEGER NOT NULL,
  "content_sha256" TEXT NOT NULL,
  "sha256" TEXT NOT NULL,
  "document" TEXT NOT NULL,
  "signature" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "routing_snapshot_pkey" PRIMARY KEY ("generation")
);

CREATE TABLE "access_list_version" (
  "version" INTEGER NOT NULL,
  "content_sha256" TEXT NOT NULL,
  "sha256" TEXT NOT NULL,
  "document" TEXT NOT NULL,
  "signature" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "access_list_version_pkey" PRIMARY KEY ("version")
);

CREATE TABLE "node_ack" (
  "node_id" UUID NOT NULL,
  "kind" TEXT NOT NULL,
  "generation" INTEGER NOT NULL,
  "ok" BOOLEAN NOT NULL,
  "sha256" TEXT NOT NULL,
  "reason" TEXT,
  "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "node_ack_pkey" PRIMARY KEY ("node_id", "kind", "generation")
);

CREATE TABLE "node_state" (
  "node_id" UUID NOT NULL,
  "acked_generation" INTEGER NOT NULL DEFAULT 0,
  "active_generation" INTEGER NOT NULL DEFAULT 0,
  "access_version" INTEGER NOT NULL DEFAULT 0,
  "nack_reason" TEXT,
  "readiness" JSONB,
  "reported_at" TIMESTAMPTZ(3),
  "stats_until" TIMESTAMPTZ(3),
  CONSTRAINT "node_state_pkey" PRIMARY KEY ("node_id")
);

CREATE TABLE "request_stat" (
  "bucket" TIMESTAMPTZ(3) NOT NULL,
  "node_id" TEXT NOT NULL,
  "tenant_id" TEXT NOT NULL,
  "pair_id" TEXT NOT NULL,
  "decision" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "transfer" TEXT NOT NULL,
  "requests" BIGINT NOT NULL,
  "tokens_moved" BIGINT NOT NULL,
  "first_token_ms_sum" DOUBLE PRECISION NOT NULL,
  CONSTRAINT "request_stat_pkey" PRIMARY KEY ("bucket", "node_id", "tenant_id", "pair_id", "decision", "reason", "transfer")
);

CREATE TABLE "audit_entry" (
  "id" UUID NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "actor_kind" TEXT NOT NULL,
  "actor_id" TEXT,
  "actor_name" TEXT NOT NULL,
  "verb" TEXT NOT NULL,
  "entity" TEXT NOT NULL,
  "entity_id" TEXT NOT NULL,
  "before" JSONB,
  "after" JSONB,
  "reason" TEXT,
  "request_id" TEXT NOT NULL,
  CONSTRAINT "audit_entry_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "user_email_key" ON "user" ("email");
CREATE UNIQUE INDEX "session_token_key" ON "session" ("token");
CREATE INDEX "session_user_id_idx" ON "session" ("user_id");
CREATE UNIQUE INDEX "account_provider_id_account_id_key" ON "account" ("provider_id", "account_id");
CREATE INDEX "account_user_id_idx" ON "account" ("user_id");
CREATE INDEX "verification_identifier_idx" ON "verification" ("identifier");
CREATE UNIQUE INDEX "rate_limit_key_key" ON "rate_limit" ("key");
CREATE UNIQUE INDEX "model_name_key" ON "model" ("name");
CREATE UNIQUE INDEX "pair_source_id_target_id_key" ON "pair" ("source_id", "target_id");
CREATE INDEX "pair_target_id_idx" ON "pair" ("target_id");
CREATE INDEX "pair_registration_state_created_at_idx" ON "pair_registration" ("state", "created_at");
CREATE INDEX "pair_registration_pair_id_idx" ON "pair_registration" ("pair_id");
CREATE INDEX "pair_registration_source_inspection_id_idx" ON "pair_registration" ("source_inspection_id");
CREATE INDEX "pair_registration_target_inspection_id_idx" ON "pair_registration" ("target_inspection_id");
CREATE INDEX "inspection_state_created_at_idx" ON "inspection" ("state", "created_at");
CREATE INDEX "inspection_worker_id_idx" ON "inspection" ("worker_id");
CREATE INDEX "calibration_pair_id_created_at_idx" ON "calibration" ("pair_id", "created_at" DESC);
CREATE INDEX "calibration_state_created_at_idx" ON "calibration" ("state", "created_at");
CREATE UNIQUE INDEX "calibration_attempt_calibration_id_number_key" ON "calibration_attempt" ("calibration_id", "number");
CREATE INDEX "calibration_attempt_state_lease_expires_at_idx" ON "calibration_attempt" ("state", "lease_expires_at");
CREATE INDEX "calibration_attempt_worker_id_idx" ON "calibration_attempt" ("worker_id");
CREATE UNIQUE INDEX "mapper_calibration_id_key" ON "mapper" ("calibration_id");
CREATE INDEX "mapper_pair_id_created_at_idx" ON "mapper" ("pair_id", "created_at" DESC);
CREATE INDEX "mapper_sha256_idx" ON "mapper" ("sha256");
CREATE UNIQUE INDEX "route_name_key" ON "route" ("name");
CREATE INDEX "route_pair_id_idx" ON "route" ("pair_id");
CREATE UNIQUE INDEX "tenant_name_key" ON "tenant" ("name");
CREATE UNIQUE INDEX "api_key_prefix_key" ON "api_key" ("prefix");
CREATE UNIQUE INDEX "api_key_hash_key" ON "api_key" ("hash");
CREATE INDEX "api_key_tenant_id_created_at_idx" ON "api_key" ("tenant_id", "created_at");
CREATE UNIQUE INDEX "host_credential_hash_key" ON "host" ("credential_hash");
CREATE INDEX "host_kind_name_idx" ON "host" ("kind", "name");
CREATE UNIQUE INDEX "join_token_hash_key" ON "join_token" ("hash");
CREATE INDEX "join_token_used_by_id_idx" ON "join_token" ("used_by_id");
CREATE UNIQUE INDEX "routing_snapshot_sha256_key" ON "routing_snapshot" ("sha256");
CREATE UNIQUE INDEX "access_list_version_sha256_key" ON "access_list_version" ("sha256");
CREATE INDEX "audit_entry_at_id_idx" ON "audit_entry" ("at" DESC, "id" DESC);
CREATE INDEX "audit_entry_entity_entity_id_at_idx" ON "audit_entry" ("entity", "entity_id", "at" DESC);
CREATE INDEX "audit_entry_verb_at_idx" ON "audit_entry" ("verb", "at" DESC);

ALTER TABLE "session" ADD CONSTRAINT "session_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "account" ADD CONSTRAINT "account_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "pair" ADD CONSTRAINT "pair_source_id_fkey" FOREIGN KEY ("source_id") REFERENCES "model" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "pair" ADD CONSTRAINT "pair_target_id_fkey" FOREIGN KEY ("target_id") REFERENCES "model" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "pair_registration" ADD CONSTRAINT "pair_registration_pair_id_fkey" FOREIGN KEY ("pair_id") REFERENCES "pair" ("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "pair_registration" ADD CONSTRAINT "pair_registration_source_inspection_id_fkey" FOREIGN KEY ("source_inspection_id") REFERENCES "inspection" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "pair_registration" ADD CONSTRAINT "pair_registration_target_inspection_id_fkey" FOREIGN KEY ("target_inspection_id") REFERENCES "inspection" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "inspection" ADD CONSTRAINT "inspection_worker_id_fkey" FOREIGN KEY ("worker_id") REFERENCES "host" ("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "calibration" ADD CONSTRAINT "calibration_pair_id_fkey" FOREIGN KEY ("pair_id") REFERENCES "pair" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "calibration_attempt" ADD CONSTRAINT "calibration_attempt_calibration_id_fkey" FOREIGN KEY ("calibration_id") REFERENCES "calibration" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "calibration_attempt" ADD CONSTRAINT "calibration_attempt_worker_id_fkey" FOREIGN KEY ("worker_id") REFERENCES "host" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "calibration_event" ADD CONSTRAINT "calibration_event_attempt_id_fkey" FOREIGN KEY ("attempt_id") REFERENCES "calibration_attempt" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "sequence_count" ADD CONSTRAINT "sequence_count_attempt_id_fkey" FOREIGN KEY ("attempt_id") REFERENCES "calibration_attempt" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "score" ADD CONSTRAINT "score_calibration_id_fkey" FOREIGN KEY ("calibration_id") REFERENCES "calibration" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "mapper" ADD CONSTRAINT "mapper_pair_id_fkey" FOREIGN KEY ("pair_id") REFERENCES "pair" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "mapper" ADD CONSTRAINT "mapper_calibration_id_fkey" FOREIGN KEY ("calibration_id") REFERENCES "calibration" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "mapper" ADD CONSTRAINT "mapper_sha256_fkey" FOREIGN KEY ("sha256") REFERENCES "artifact" ("sha256") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "route" ADD CONSTRAINT "route_pair_id_fkey" FOREIGN KEY ("pair_id") REFERENCES "pair" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenant" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "join_token" ADD CONSTRAINT "join_token_used_by_id_fkey" FOREIGN KEY ("used_by_id") REFERENCES "host" ("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "node_ack" ADD CONSTRAINT "node_ack_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "host" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "node_state" ADD CONSTRAINT "node_state_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "host" ("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What the schema language cannot say.
ALTER TABLE "setting" ADD CONSTRAINT "setting_one_row" CHECK ("id" = 1);
ALTER TABLE "setting" ADD CONSTRAINT "setting_gate_range" CHECK ("gate" > 0 AND "gate" <= 1);
ALTER TABLE "pair" ADD CONSTRAINT "pair_gate_range" CHECK ("gate" > 0 AND "gate" <= 1);
ALTER TABLE "mapper" ADD CONSTRAINT "mapper_active_is_cleared" CHECK ("state" <> 'ACTIVE' OR "verdict" = 'CLEARED');

-- One open run a pair, one open inspection a model, one active mapper a pair.
CREATE UNIQUE INDEX "calibration_one_open_a_pair" ON "calibration" ("pair_id") WHERE "state" IN ('QUEUED', 'RUNNING');
CREATE UNIQUE INDEX "inspection_one_open_a_model" ON "inspection" ("model") WHERE "state" IN ('QUEUED', 'RUNNING');
CREATE UNIQUE INDEX "mapper_one_active_a_pair" ON "mapper" ("pair_id") WHERE "state" = 'ACTIVE';

INSERT INTO "setting" ("id") VALUES (1);
