-- Of a run that drains: that a route is then served by no node was meant, so a retry need not ask again.
ALTER TABLE "calibration" ADD COLUMN "accept_no_serving" BOOLEAN NOT NULL DEFAULT false;
