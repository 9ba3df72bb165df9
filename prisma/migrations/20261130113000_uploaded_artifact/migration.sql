-- What an attempt brought itself: a digest that someone else's upload left here is no artifact of its own.
ALTER TABLE "calibration_attempt" ADD COLUMN "artifact_sha256" TEXT;
