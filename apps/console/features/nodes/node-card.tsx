"use client";

import type { PairReadiness } from "@helm/contracts";
import { useQuery } from "@tanstack/react-query";
import { type Outputs, useTRPC } from "../../api/trpc";
import { Badge } from "../../ui/badge";
import { Facts } from "../../ui/card";
import { count } from "../../ui/numbers";
import { TimeAgo } from "../preferences/time";
import { Hardware, HostHead } from "./host-words";

type Node = Outputs["node"]["list"][number];

export function NodeCard({ node }: { node: Node }) {
  const { readiness, generation, access } = node;
  const models = readiness?.engine.models ?? [];
  return (
    <li className="rounded-lg border border-line p-4">
      <HostHead host={node}>
        {readiness ? (
          <Badge
            tone={readiness.engine.healthy ? "good" : "bad"}
            shape={readiness.engine.healthy ? "check" : "cross"}
          >
            {readiness.engine.healthy ? "Engine healthy" : "Engine not healthy"}
          </Badge>
        ) : (
          <Badge shape="dashed">Not reported yet</Badge>
        )}
      </HostHead>
      {node.nackReason ? (
        <p role="alert" className="mt-3 rounded-lg bg-bad-wash px-3 py-2 text-bad-ink">
          This node refused the last configuration and keeps generation {generation.active}: {node.nackReason}
        </p>
      ) : null}
      <div className="mt-3 grid gap-x-8 lg:grid-cols-2">
        <Facts
          rows={[
            ["Generation", <Generation key="g" {...generation} />],
            [
              "Access list",
              access.acked === access.desired
                ? `version ${access.desired}, confirmed`
                : `version ${access.desired}, confirmed ${access.acked}`,
            ],
            [
              "Hardware",
              <Hardware
                key="h"
                verdict={node.hardware}
                sentence={node.hardwareSentence}
                devices={node.devices}
              />,
            ],
          ]}
        />
        <Facts
          rows={[
            [
              "Engine",
              `${readiness?.engine.name ?? node.engine ?? "unknown"}${models.length > 0 ? `, serving ${models.map(({ id }) => id).join(" and ")}` : ""}`,
            ],
            [
              "Gateway",
              node.url ? (
                <code key="u" className="font-mono text-[0.8125rem]">
                  {node.url}
                </code>
              ) : (
                "not reported"
              ),
            ],
            [
              "Version",
              <span key="v">
                {node.version}, joined <TimeAgo at={node.joinedAt} />
              </span>,
            ],
          ]}
        />
      </div>
      <Readiness pairs={readiness?.pairs ?? []} />
    </li>
  );
}

function Generation({ desired, acked, active }: { desired: number; acked: number; active: number }) {
  const settled = desired === acked && desired === active;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
      <span className="tabular-nums">
        desired {desired}, acked {acked}, active {active}
      </span>
      <Badge tone={settled ? "good" : "warn"} shape={settled ? "check" : "dot"}>
        {settled ? "Settled" : "On its way"}
      </Badge>
    </span>
  );
}

const STATE = {
  READY: { tone: "good", shape: "check" },
  FETCHING: { tone: "busy", shape: "spin" },
  REFUSED: { tone: "plain", shape: "slash" },
} as const;

function Readiness({ pairs }: { pairs: PairReadiness[] }) {
  const trpc = useTRPC();
  const known = useQuery(trpc.pair.list.queryOptions()).data ?? [];
  if (pairs.length === 0) return null;
  return (
    <>
      <h4 className="mt-3 mb-1 font-medium">Readiness by pair</h4>
      <ul className="divide-y divide-line">
        {pairs.map((pair) => {
          const facts = known.find(({ id }) => id === pair.pair_id);
          return (
            <li key={pair.pair_id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
              <span className="min-w-36 font-medium">
                {facts ? `${facts.source.id} to ${facts.target.id}` : pair.pair_id}
              </span>
              <Badge {...STATE[pair.state]}>{pair.state}</Badge>
              <span className="text-ink-soft">
                {pair.state === "READY" ? payWords(pair.min_tokens) : (pair.code ?? "")}
              </span>
              {pair.canary_at ? (
                <span className="text-ink-soft">
                  canary <TimeAgo at={pair.canary_at} />
                </span>
              ) : null}
            </li>
          );
        })}
      </ul>
    </>
  );
}

function payWords(minTokens: number | null | undefined): string {
  return minTokens === null || minTokens === undefined
    ? "a transfer never beats the target's own prefill here (BLOCK_TOO_SMALL)"
    : `a transfer beats the target's own prefill from ${count(minTokens)} prompt tokens`;
}
