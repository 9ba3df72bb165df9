"use client";

import { DECISION_WORDS, TRACE_WAIT_MS } from "@helm/contracts";
import Link from "next/link";
import { QueryView } from "../../api/query-view";
import { Badge } from "../../ui/badge";
import { ButtonLink } from "../../ui/button";
import { Card, Facts, PageHeader } from "../../ui/card";
import { bytes, count, milliseconds, percent } from "../../ui/numbers";
import { Awaited } from "../../ui/states";
import { pairName } from "../pairs/pair-words";
import { Moment } from "../preferences/time";
import { command } from "../shell/commands";
import { useNameLeaf } from "../shell/leaf";
import { Terminal } from "../shell/terminal-card";
import { judgeSentence } from "./judge-words";
import { DecisionBadge } from "./request-columns";
import { ShareCard } from "./share-card";
import { TraceTextCard } from "./trace-text-card";
import { reasonWords } from "./traffic-words";
import { useAwaitedTrace } from "./use-awaited-trace";
import type { Trace } from "./use-traffic";
import { WaterfallCard } from "./waterfall-card";

export function TracePage({ id }: { id: string }) {
  const { trace, awaited } = useAwaitedTrace(id);
  if (awaited) return <AwaitedTrace />;
  return (
    <QueryView
      query={trace}
      label="Loading the request"
      rows={6}
      back={{ href: "/traffic", name: "Traffic" }}
    >
      {(data) => <TraceDetail row={data} />}
    </QueryView>
  );
}

function AwaitedTrace() {
  return (
    <Awaited title="Not here yet" action={<ButtonLink href="/traffic">Traffic</ButtonLink>}>
      A node sends its traces every second, so a new one arrives within a few. It is looked for again for{" "}
      {TRACE_WAIT_MS / 1_000} seconds; then it was not sampled, or it has expired.
    </Awaited>
  );
}

function TraceDetail({ row }: { row: Trace }) {
  const { trace } = row;
  useNameLeaf(`Request ${row.id.slice(0, 8)}`);
  return (
    <>
      <PageHeader
        title={<span className="font-mono text-[1.125rem] [overflow-wrap:anywhere]">{row.id}</span>}
        badge={
          <>
            <DecisionBadge row={row} />
            {trace.development ? (
              <Badge tone="warn" shape="alert">
                Development
              </Badge>
            ) : null}
          </>
        }
        lead={sentenceOf(trace)}
      />
      <WaterfallCard trace={trace} />
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Card title="What was asked and decided">
          <Facts rows={decidedRows(row)} />
        </Card>
        <Card title="What it came to">
          <Facts rows={figuresRows(trace)} />
        </Card>
      </div>
      {trace.judge ? (
        <Card title="The judge" hint={judgeSentence(trace.judge)}>
          <Facts
            rows={Object.entries(trace.judge.evidence).map(([name, value]) => [
              name.replaceAll("_", " "),
              value.toFixed(4),
            ])}
          />
        </Card>
      ) : null}
      {trace.share ? <ShareCard share={trace.share} firstTokenMs={trace.first_token_ms} /> : null}
      <TraceTextCard row={row} />
      <Terminal commands={[command.trace(row.id)]} />
    </>
  );
}

function sentenceOf(trace: Trace["trace"]): string {
  if (trace.status === 499) return "The caller went away before the answer was whole.";
  if (trace.error_code) return `Answered with ${trace.status}: ${reasonWords(trace.error_code)}.`;
  const decided = trace.decision ? DECISION_WORDS[trace.decision] : "nothing was decided";
  return `${decided.charAt(0).toUpperCase()}${decided.slice(1)}${trace.reason ? `: ${reasonWords(trace.reason)}` : ""}.`;
}

const KEPT_WORDS: Record<Trace["trace"]["kept"], string> = {
  fallback: "no transfer took place",
  refusal: "it was turned away",
  error: "it ended in an error",
  share: "it is of a random share",
  rate: "it was drawn from the ordinary ones",
  asked: "it was asked in the playground",
};

function decidedRows(row: Trace): Parameters<typeof Facts>[0]["rows"] {
  const { trace } = row;
  return [
    ["Arrived", <Moment key="at" at={row.at} />],
    [
      "Tenant",
      row.tenant.id === "playground" ? (
        row.tenant.name
      ) : (
        <Link key="t" href={`/tenants/${row.tenant.id}`} className="underline underline-offset-4">
          {row.tenant.name}
        </Link>
      ),
    ],
    [
      "Asked at",
      <code key="e" className="font-mono text-[0.8125rem]">
        {trace.endpoint}
      </code>,
    ],
    ["Route", trace.route ?? "none: a model was named, or nothing was decided"],
    [
      "Pair",
      row.pair ? (
        <Link key="p" href={`/pairs/${row.pair.id}`} className="underline underline-offset-4">
          {pairName(row.pair.name)}
        </Link>
      ) : (
        "none"
      ),
    ],
    ["Reason", trace.reason ? `${trace.reason}: ${reasonWords(trace.reason)}` : "none"],
    ["Answered by", trace.served_by ?? "nobody"],
    [
      "Streaming",
      `${trace.mode ?? "nothing was held back"}; the caller asked for ${trace.streamed ? "a stream" : "one body"}${trace.session ? ", in a session" : ""}`,
    ],
    [
      "Node",
      row.node ? (
        <Link key="n" href={`/nodes/${row.node.id}`} className="underline underline-offset-4">
          {row.node.name}
        </Link>
      ) : (
        row.nodeId
      ),
    ],
    ["Generation", trace.generation],
    ["Trace kept until", <Moment key="until" at={row.expiresAt} />],
  ];
}

function figuresRows(trace: Trace["trace"]): Parameters<typeof Facts>[0]["rows"] {
  const { tokens, steps, shortfall } = trace;
  const answered = trace.legs.find((leg) => leg.answered);
  return [
    ["Status", `${trace.status}${trace.error_code ? ` ${trace.error_code}` : ""}`],
    ...(shortfall
      ? ([
          [
            "Missing",
            `${bytes(shortfall.shortfall_bytes)}: ${bytes(shortfall.needed_bytes)} needed, ${bytes(shortfall.available_bytes)} there${shortfall.never_fits ? "; it never fits" : ""}`,
          ],
        ] as [string, string][])
      : []),
    ["Prompt", tokens.prompt === null ? "not counted" : `${count(tokens.prompt)} tokens`],
    [
      "Answer",
      answered?.completion_tokens == null ? "not counted" : `${count(answered.completion_tokens)} tokens`,
    ],
    ["First token", milliseconds(trace.first_token_ms)],
    ["In all", milliseconds(trace.total_ms)],
    ["Waited for room", milliseconds(trace.queue_ms)],
    [
      "Transfer",
      trace.transfer === "transferred"
        ? `${count(tokens.moved ?? 0)} tokens carried across, ${count(tokens.tail ?? 0)} computed after them`
        : trace.transfer === "fallback"
          ? "none: the target read the prompt itself"
          : "none was wanted",
    ],
    ...(steps
      ? ([
          [
            "Its steps",
            [
              ["staged", steps.stage_ms],
              ["mapped", steps.map_ms],
              ["installed", steps.install_ms],
              ["tail", steps.tail_ms],
            ]
              .filter(([, ms]) => ms !== null)
              .map(([name, ms]) => `${name} ${milliseconds(ms as number)}`)
              .join(", "),
          ],
        ] as [string, string][])
      : []),
    ["Sampled because", `${KEPT_WORDS[trace.kept]}; probability ${percent(trace.propensity)}`],
  ];
}
