"use client";

import type { PairReadiness } from "@helm/contracts";
import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { useTRPC } from "../../api/trpc";
import { Badge } from "../../ui/badge";
import { TimeAgo } from "../preferences/time";
import { readinessWords } from "./reason-words";

const STATE = {
  READY: { tone: "good", shape: "check" },
  FETCHING: { tone: "busy", shape: "spin" },
  REFUSED: { tone: "plain", shape: "slash" },
} as const;

/** How each pair stands on one node, and why. */
export function ReadinessList({ pairs, engineServes }: { pairs: PairReadiness[]; engineServes: boolean }) {
  const trpc = useTRPC();
  const known = useQuery(trpc.pair.list.queryOptions()).data ?? [];
  if (pairs.length === 0) return <p className="text-ink-soft">The node knows of no pair.</p>;
  return (
    <ul className="divide-y divide-line">
      {pairs.map((pair) => {
        const facts = known.find(({ id }) => id === pair.pair_id);
        return (
          <li key={pair.pair_id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
            <span className="min-w-36 font-medium">
              {facts ? (
                <Link href={`/pairs/${facts.id}`} className="underline-offset-4 hover:underline">
                  {facts.source.id} to {facts.target.id}
                </Link>
              ) : (
                pair.pair_id
              )}
            </span>
            <Badge {...STATE[pair.state]}>{pair.code ? `${pair.state}: ${pair.code}` : pair.state}</Badge>
            <span className="text-ink-soft">{readinessWords(pair, engineServes)}</span>
            {pair.canary_at ? (
              <span className="text-ink-soft">
                canary <TimeAgo at={pair.canary_at} />
              </span>
            ) : null}
          </li>
        );
      })}
    </ul>
  );
}
