import { z } from "zod";
import { CalibrationState } from "./states";

/**
 * Socket.IO namespace /console (session cookie, Origin checked). The client emits "follow" {calibration} and gets an
 * ack; the server then emits "calibration:update" (at most 10 a second for a run) and hints "changed" {topic}.
 * Rows are the truth: a page reads the backlog over tRPC since its last seq, then follows and drops duplicates.
 */
export const FollowRequest = z.object({ calibration: z.string() });
export const CalibrationUpdate = z.object({
  calibration: z.string(),
  /** Sequence numbers start again with each attempt. */
  attempt: z.number().int(),
  last_seq: z.number().int(),
  /** The number before the first that this update tells of: a page that has not come so far reads the rows. */
  after_seq: z.number().int().nullish(),
  state: CalibrationState,
  stage: z.string().nullable(),
  percent: z.number(),
  rate: z.number().nullable(),
  unit: z.string().nullable(),
  lines: z.array(z.object({ seq: z.number().int(), at: z.string(), level: z.string(), message: z.string() })),
});
export type CalibrationUpdate = z.infer<typeof CalibrationUpdate>;
export const ChangedHint = z.object({
  topic: z.enum([
    "pairs",
    "calibrations",
    "nodes",
    "workers",
    "tenants",
    "settings",
    "snapshots",
    "routes",
    "ladders",
    "people",
    "audit",
  ]),
});
export type ChangedHint = z.infer<typeof ChangedHint>;
