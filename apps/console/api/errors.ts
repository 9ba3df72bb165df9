import { TRPCClientError } from "@trpc/client";
import { z } from "zod";

const HelmData = z.object({
  code: z.string(),
  userMessage: z.string(),
  details: z.record(z.string(), z.unknown()).nullish(),
  requestId: z.string().nullish(),
});

export type Problem = {
  code: string;
  /** For the person: says the next step. */
  message: string;
  requestId: string | null;
  details: Record<string, unknown>;
};

/** What a person may see of an error: the server's own words for them, or that nothing answered. */
export function problemOf(error: unknown): Problem {
  if (error instanceof TRPCClientError) {
    const helm = HelmData.safeParse((error.data as { helm?: unknown } | null | undefined)?.helm);
    if (helm.success) {
      const { code, userMessage, requestId, details } = helm.data;
      return { code, message: userMessage, requestId: requestId ?? null, details: details ?? {} };
    }
    if (!error.data) {
      return {
        code: "UNREACHABLE",
        message: "The control plane does not answer. It may be starting; this page tries again by itself.",
        requestId: null,
        details: {},
      };
    }
  }
  return { code: "INTERNAL", message: "Something went wrong on this page.", requestId: null, details: {} };
}

/** A wrong request does not get better by repeating it; a server that is starting does. */
export function isWorthRetrying(error: unknown): boolean {
  return problemOf(error).code === "UNREACHABLE";
}
