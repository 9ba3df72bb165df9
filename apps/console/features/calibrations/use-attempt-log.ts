"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPCClient } from "../../api/trpc";
import { storedLine } from "./event-line";
import { type LogLine, mergeLines } from "./feed";

export type AttemptLog = { lines: LogLine[]; stage: string | null; percent: number };

const PAGE = 1_000;

/** What an attempt that is over said: its log, and how far it came. It does not change any more. */
export function useAttemptLog(id: string, attempt: number | null) {
  const client = useTRPCClient();
  return useQuery({
    queryKey: [["calibration", "events"], { id, attempt, whole: true }],
    enabled: attempt !== null,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async (): Promise<AttemptLog> => {
      const found: AttemptLog = { lines: [], stage: null, percent: 0 };
      let after = 0;
      for (;;) {
        const page = await client.calibration.events.query({
          id,
          attempt: attempt ?? undefined,
          afterSeq: after,
          limit: PAGE,
        });
        found.lines = mergeLines(
          found.lines,
          page.events.map(storedLine).filter((line) => line !== null),
        );
        for (const { type, body } of page.events) {
          if ((type === "stage" || type === "progress") && typeof body.stage === "string")
            found.stage = body.stage;
          if (type === "progress" && typeof body.percent === "number")
            found.percent = Math.max(found.percent, body.percent);
          if (type === "result") found.percent = 100;
        }
        after = page.events.at(-1)?.seq ?? after;
        if (page.events.length < PAGE) return found;
      }
    },
  });
}
