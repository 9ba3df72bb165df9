-- How often a conversation's cache is carried across, and the random shares of a route.
ALTER TABLE "route"
  ADD COLUMN "max_switches" INTEGER NOT NULL DEFAULT 4,
  ADD COLUMN "share_kept" DOUBLE PRECISION NOT NULL DEFAULT 0.01,
  ADD COLUMN "share_escalated" DOUBLE PRECISION NOT NULL DEFAULT 0.01,
  ADD COLUMN "share_forced" DOUBLE PRECISION NOT NULL DEFAULT 0.002;
