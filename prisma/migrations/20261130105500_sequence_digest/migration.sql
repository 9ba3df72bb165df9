-- One text under two names is seen by what it holds.
ALTER TABLE "sequence_count" ADD COLUMN "digest" TEXT;
