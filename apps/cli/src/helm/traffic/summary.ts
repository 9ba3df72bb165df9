import type { Context } from "../../context";
import { requireServer } from "../../server/client";
import { table } from "../../terminal/style";
import { readRange } from "./range";

type Proportion = { count: number; of: number; share: number; low: number; high: number } | null;

/** What became of requests, over all nodes: in all, by tenant, by pair and by reason. */
export async function showTraffic(
  { config, screen }: Context,
  options: Record<string, string | boolean | undefined>,
): Promise<void> {
  const server = await requireServer(config);
  const range = await readRange(server, options);
  const [summary, reasons] = await Promise.all([
    server.traffic.summary.query(range),
    server.traffic.reasons.query(range),
  ]);
  screen.answer({ type: "traffic", ...summary, reasons: reasons.rows }, () => {
    const { total, traces } = summary;
    if (total.requests === 0)
      return [
        `No request in the last ${range.hours} h. Ask for more with --hours 720, or send one: lifeboat helm playground ask "PROMPT".`,
      ];
    return [
      ...table(
        ["figure", "value"],
        [
          ["requests", String(total.requests)],
          ["escalated", proportionText(summary.escalation)],
          ["transferred", proportionText(summary.transfers)],
          ["tokens moved", String(total.tokensMoved)],
          [
            "first token, mean",
            summary.firstTokenMsMean === null ? "" : `${summary.firstTokenMsMean.toFixed(1)} ms`,
          ],
          ["refused, failed, client errors", `${total.refused}, ${total.failed}, ${total.clientErrors}`],
          ["traces", `${traces.kept} kept, ${traces.dropped} left out for want of room`],
        ],
      ).slice(1),
      "",
      ...table(
        ["reason", "kind", "requests"],
        reasons.rows.map((row) => [row.reason, row.kind, String(row.requests)]),
      ),
      ...(["tenants", "pairs"] as const).flatMap((by) => [
        "",
        ...table(
          [by, "requests", "escalated", "transferred", "refused"],
          summary[by].map((part) => [
            part.name,
            String(part.requests),
            proportionText(part.escalation),
            `${part.transferred} of ${part.escalated}`,
            String(part.refused),
          ]),
        ),
      ]),
    ];
  });
}

export function proportionText(found: Proportion): string {
  if (!found) return "nothing yet";
  const percent = (share: number) => (share * 100).toFixed(1);
  return `${percent(found.share)} % (95 %: ${percent(found.low)} to ${percent(found.high)}), ${found.count} of ${found.of}`;
}
