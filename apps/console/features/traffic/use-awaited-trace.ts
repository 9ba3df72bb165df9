"use client";

import { TRACE_WAIT_MS } from "@helm/contracts";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { isWorthRetrying, problemOf } from "../../api/errors";
import { useTRPC } from "../../api/trpc";

export const LOOK_EVERY_MS = 1_000;
const isMissing = (error: unknown) => problemOf(error).code === "NOT_FOUND";

/** One request's trace. A new one is on its way for some seconds: it is looked for again until then, and `awaited` says so. */
export function useAwaitedTrace(id: string) {
  const trpc = useTRPC();
  const [openedAt] = useState(Date.now);
  const trace = useQuery(
    trpc.traffic.trace.queryOptions(
      { id },
      {
        retry: (failures, error) =>
          isMissing(error) ? Date.now() - openedAt < TRACE_WAIT_MS : failures < 5 && isWorthRetrying(error),
        retryDelay: (failures, error) =>
          isMissing(error) ? LOOK_EVERY_MS : Math.min(500 * 2 ** failures, 5_000),
      },
    ),
  );
  return { trace, awaited: trace.isPending && isMissing(trace.failureReason) };
}
