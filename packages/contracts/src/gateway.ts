import { z } from "zod";

/** Headers on every answer of the gateway. */
export const GatewayHeader = {
  servedBy: "x-helm-served-by",
  decision: "x-helm-decision",
  reason: "x-helm-reason",
  transfer: "x-helm-transfer",
  traceId: "x-helm-trace-id",
  mode: "x-helm-mode",
  session: "x-helm-session",
  ticket: "x-helm-ticket",
} as const;

/** `helm` field of a request body; "force" exists in development mode only. */
export const HelmRequestOptions = z.object({ transfer: z.enum(["auto", "force", "off"]).optional() });
export type HelmRequestOptions = z.infer<typeof HelmRequestOptions>;

/** `helm` field of an answer's body: what happened, as the headers say it, with the numbers. */
export const HelmAnswer = z.object({
  trace_id: z.string(),
  served_by: z.string(),
  decision: z.string(),
  reason: z.string().nullable(),
  transfer: z.enum(["transferred", "fallback", "none"]),
  tokens_moved: z.number().int().nullable(),
  tail_tokens: z.number().int().nullable(),
  /** `score` is the probability that a table gave, `threshold` from where on it escalates; null of the two bounds. */
  judge: z
    .object({
      mean_logprob: z.number(),
      min_logprob: z.number(),
      escalate: z.boolean(),
      version: z.string().nullish(),
      score: z.number().nullish(),
      threshold: z.number().nullish(),
    })
    .nullable(),
  timing: z.object({
    pilot_ms: z.number().nullable(),
    stage_ms: z.number().nullable(),
    map_ms: z.number().nullable(),
    first_token_ms: z.number().nullable(),
    total_ms: z.number(),
  }),
});
export type HelmAnswer = z.infer<typeof HelmAnswer>;
