-- What every control plane of this database must share, by fingerprint: who brings something else may not start.
CREATE TABLE "fleet_identity" (
  "id" INTEGER NOT NULL DEFAULT 1,
  "signing_key" TEXT NOT NULL,
  "auth_secret" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "fleet_identity_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "fleet_identity_one" CHECK ("id" = 1)
);

-- Whichever control plane printed it, any of them takes it.
CREATE TABLE "setup_token" (
  "hash" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "setup_token_pkey" PRIMARY KEY ("hash")
);

-- Messages too long for NOTIFY. They live for seconds, so they need not survive a crash of the database.
CREATE UNLOGGED TABLE "socket_attachment" (
  "id" BIGSERIAL NOT NULL,
  "payload" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "socket_attachment_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "socket_attachment_created_at_idx" ON "socket_attachment" ("created_at");
