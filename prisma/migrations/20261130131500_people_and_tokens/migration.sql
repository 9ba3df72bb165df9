-- People beyond the first: one that is disabled stays with what it did, and is let in nowhere.
ALTER TABLE "user"
  ADD COLUMN "revision" INTEGER NOT NULL DEFAULT 1,
  ADD COLUMN "disabled_at" TIMESTAMPTZ(3),
  ADD COLUMN "last_sign_in_at" TIMESTAMPTZ(3);

-- There is no e-mail: an administrator hands on a link, which is good once and for a short time.
CREATE TABLE "invitation" (
  "id" UUID NOT NULL,
  "user_id" UUID NOT NULL,
  "hash" TEXT NOT NULL,
  "created_by" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  "used_at" TIMESTAMPTZ(3),
  "cancelled_at" TIMESTAMPTZ(3),
  CONSTRAINT "invitation_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "invitation_hash_key" ON "invitation" ("hash");
CREATE INDEX "invitation_user_id_idx" ON "invitation" ("user_id");
-- One open link a person at most.
CREATE UNIQUE INDEX "invitation_open_key" ON "invitation" ("user_id") WHERE "used_at" IS NULL AND "cancelled_at" IS NULL;
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user" ("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Personal tokens. Columns up to "metadata" are better-auth's api-key plugin's; "key" holds a digest, never the token.
CREATE TABLE "personal_token" (
  "id" UUID NOT NULL,
  "config_id" TEXT NOT NULL DEFAULT 'default',
  "name" TEXT,
  "start" TEXT,
  "prefix" TEXT,
  "key" TEXT NOT NULL,
  "user_id" UUID NOT NULL,
  "refill_interval" INTEGER,
  "refill_amount" INTEGER,
  "last_refill_at" TIMESTAMPTZ(3),
  "enabled" BOOLEAN NOT NULL DEFAULT true,
  "rate_limit_enabled" BOOLEAN NOT NULL DEFAULT false,
  "rate_limit_time_window" INTEGER,
  "rate_limit_max" INTEGER,
  "request_count" INTEGER NOT NULL DEFAULT 0,
  "remaining" INTEGER,
  "last_request" TIMESTAMPTZ(3),
  "expires_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "permissions" TEXT,
  "metadata" TEXT,
  "revoked_at" TIMESTAMPTZ(3),
  CONSTRAINT "personal_token_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "personal_token_key_key" ON "personal_token" ("key");
CREATE INDEX "personal_token_user_id_created_at_idx" ON "personal_token" ("user_id", "created_at");
ALTER TABLE "personal_token" ADD CONSTRAINT "personal_token_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user" ("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A token that nobody used yet can be taken back.
ALTER TABLE "join_token" ADD COLUMN "cancelled_at" TIMESTAMPTZ(3);
