"use client";

import { useQuery } from "@tanstack/react-query";
import { parseAsInteger, parseAsString, useQueryStates } from "nuqs";
import { type Inputs, type Outputs, useTRPC } from "../../api/trpc";

export type Summary = Outputs["traffic"]["summary"];
export type Series = Outputs["traffic"]["series"];
export type Reason = Outputs["traffic"]["reasons"]["rows"][number];
export type Lengths = Outputs["traffic"]["lengths"];
export type Agreement = Outputs["traffic"]["agreement"];
export type Quality = Outputs["traffic"]["quality"];
export type TraceRow = Outputs["traffic"]["requests"]["rows"][number];
export type Trace = Outputs["traffic"]["trace"];
export type TrafficRange = NonNullable<Inputs["traffic"]["summary"]> & { hours: number };

export const RANGES = [
  { hours: 1, name: "Last hour" },
  { hours: 6, name: "Last 6 hours" },
  { hours: 24, name: "Last 24 hours" },
  { hours: 168, name: "Last 7 days" },
  { hours: 720, name: "Last 30 days" },
] as const;

const EVERY_MS = 5_000;

/** How far back, whose and which pair: in the address, for every panel of the page. */
export function useRange() {
  const [found, setFound] = useQueryStates(
    { hours: parseAsInteger.withDefault(1), tenant: parseAsString, pair: parseAsString },
    { history: "push" },
  );
  const known = RANGES.some(({ hours }) => hours === found.hours);
  const range: TrafficRange = {
    hours: known ? found.hours : 1,
    tenant: found.tenant ?? undefined,
    pair: found.pair ?? undefined,
  };
  return { range, setFound };
}

export function useSummary(range: TrafficRange) {
  const trpc = useTRPC();
  return useQuery(trpc.traffic.summary.queryOptions(range, { refetchInterval: EVERY_MS }));
}

export function useSeries(range: TrafficRange) {
  const trpc = useTRPC();
  return useQuery(trpc.traffic.series.queryOptions(range, { refetchInterval: EVERY_MS }));
}

export function useReasons(range: TrafficRange) {
  const trpc = useTRPC();
  return useQuery(trpc.traffic.reasons.queryOptions(range, { refetchInterval: EVERY_MS }));
}

/** What random shares and lengths say changes slowly. */
const SLOWLY_MS = 20_000;

export function useLengths(range: TrafficRange) {
  const trpc = useTRPC();
  return useQuery(trpc.traffic.lengths.queryOptions(range, { refetchInterval: SLOWLY_MS }));
}

export function useAgreement(range: TrafficRange) {
  const trpc = useTRPC();
  return useQuery(trpc.traffic.agreement.queryOptions(range, { refetchInterval: SLOWLY_MS }));
}

export function useQuality(range: TrafficRange) {
  const trpc = useTRPC();
  return useQuery(trpc.traffic.quality.queryOptions(range, { refetchInterval: SLOWLY_MS }));
}
