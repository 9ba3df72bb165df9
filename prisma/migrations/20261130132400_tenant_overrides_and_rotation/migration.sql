-- What a tenant may have of its own, tenants that are put away, keys that take over from another, and when the kill switch moved.

ALTER TABLE "tenant" ADD COLUMN "window" INTEGER;
ALTER TABLE "tenant" ADD COLUMN "mean_logprob" DOUBLE PRECISION;
ALTER TABLE "tenant" ADD COLUMN "min_logprob" DOUBLE PRECISION;
ALTER TABLE "tenant" ADD COLUMN "max_concurrent" INTEGER;
ALTER TABLE "tenant" ADD COLUMN "archived_at" TIMESTAMPTZ(3);

ALTER TABLE "api_key" ADD COLUMN "replaces_id" UUID;
CREATE INDEX "api_key_replaces_id_idx" ON "api_key" ("replaces_id");
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_replaces_id_fkey" FOREIGN KEY ("replaces_id") REFERENCES "api_key" ("id") ON DELETE SET NULL ON UPDATE CASCADE;

ALTER TABLE "setting" ADD COLUMN "kill_switch_at" TIMESTAMPTZ(3);
