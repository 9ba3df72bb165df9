import { EventBatch, FinishRequest, HeartbeatRequest } from "@helm/contracts";
import { z } from "zod";

// Attempts are ours, so is their form: what cannot be one is refused before anything is asked of the database.
const attempt = z.uuid();

export const AttemptHeartbeat = HeartbeatRequest.extend({ attempt });
export const AttemptEvents = EventBatch.extend({ job: z.uuid(), attempt });
export const AttemptFinish = FinishRequest.extend({ attempt });
