import type { Context } from "../../context";
import { requireServer, type Server } from "../../server/client";
import { printable, table } from "../../terminal/style";
import { awaitTrace, sayWait } from "./await-trace";

type Trace = Awaited<ReturnType<Server["traffic"]["trace"]["query"]>>;

/** One request in full; with `withText` what was said, which leaves a row in the audit. */
export async function showTrace(
  { config, screen }: Context,
  id: string,
  { withText, wait }: { withText: boolean; wait: boolean },
): Promise<void> {
  const server = await requireServer(config);
  const ask = () => server.traffic.trace.query({ id });
  const row = await (wait ? awaitTrace(ask) : ask().catch(sayWait));
  const text = withText ? await server.traffic.text.mutate({ id }) : null;
  screen.answer({ type: "trace", ...row, text }, () => [
    ...table(["figure", "value"], facts(row)).slice(1),
    "",
    ...table(
      ["leg", "model", "from", "first token", "to", "tokens", "end"],
      row.trace.legs.map((leg) => [
        `${leg.role}${leg.answered ? " (answered)" : ""}`,
        leg.model,
        ms(leg.started_ms),
        ms(leg.first_token_ms),
        ms(leg.ended_ms),
        tokensOf(leg),
        leg.ended_by ?? "",
      ]),
    ),
    ...(text ? ["", "prompt", printable(text.prompt), "", "answer", printable(text.answer ?? "")] : []),
    ...(row.hasText && !text
      ? ["", "Prompt and answer are kept: add --text (it is written into the audit)."]
      : []),
  ]);
}

function tokensOf({ prompt_tokens, completion_tokens }: Trace["trace"]["legs"][number]): string {
  if (prompt_tokens === null && completion_tokens === null) return "-";
  return `${prompt_tokens ?? "?"} in, ${completion_tokens ?? "?"} out`;
}

function facts(row: Trace): string[][] {
  const { trace } = row;
  const { judge, steps, tokens, share } = trace;
  return [
    ["at", row.at.toISOString()],
    ["tenant", row.tenant.name],
    ["node", row.node?.name ?? row.nodeId],
    ["route, pair", `${trace.route ?? "none"}, ${row.pair?.name ?? "none"}`],
    ["decision", `${trace.decision ?? "none"}${trace.reason ? ` (${trace.reason})` : ""}`],
    ["status", `${trace.status}${trace.error_code ? ` ${trace.error_code}` : ""}`],
    ["answered by", trace.served_by ?? "nobody"],
    ["transfer", `${trace.transfer ?? "none"}${tokens.moved === null ? "" : `, ${tokens.moved} tokens`}`],
    ...(judge
      ? [["judge", `${judge.version}: ${judge.score.toFixed(3)} against ${judge.threshold.toFixed(3)}`]]
      : []),
    ...(steps
      ? [
          [
            "steps",
            `stage ${ms(steps.stage_ms)}, map ${ms(steps.map_ms)}, install ${ms(steps.install_ms)}, tail ${ms(steps.tail_ms)}`,
          ],
        ]
      : []),
    ...(share ? [["random share", `${share.kind}, probability ${share.propensity}`]] : []),
    [
      "queue, first token, in all",
      `${ms(trace.queue_ms)}, ${ms(trace.first_token_ms)}, ${ms(trace.total_ms)}`,
    ],
    ["sampled because", `${trace.kept}, probability ${trace.propensity}`],
    ["kept until", row.expiresAt.toISOString()],
  ];
}

function ms(value: number | null): string {
  return value === null ? "-" : `${value} ms`;
}
