import type { ReactNode } from "react";
import { bytes, count, milliseconds, percent, plural } from "../../ui/numbers";
import { perSecond, proportionWords } from "./traffic-words";
import type { Agreement, Lengths, Summary } from "./use-traffic";

/** The page in six figures; each says of how many it is. */
export function FiguresRow({
  summary,
  lengths,
  agreement,
  target,
  hours,
}: {
  summary: Summary;
  lengths: Lengths | undefined;
  agreement: Agreement | undefined;
  /** The escalation rate that the routes' judges are set to; null where none is. */
  target: number | null;
  hours: number;
}) {
  const { total, transfers, escalation } = summary;
  const escalated = proportionWords(escalation, "judged");
  const transferred = proportionWords(transfers, "escalated");
  const live = proportionWords(agreement?.keptAlsoTarget.firstToken ?? null);
  const paired = lengths?.paired;
  return (
    <dl className="grid gap-3 min-[30rem]:grid-cols-2 lg:grid-cols-3 2xl:grid-cols-6">
      <Figure name="Requests" value={count(total.requests)}>
        {perSecond(total.requests, hours)}
        {summary.firstTokenMsMean === null
          ? ""
          : `; first token ${milliseconds(summary.firstTokenMsMean)} in the mean`}
      </Figure>
      <Figure name="Escalated" value={escalated.value}>
        {target === null ? "no target rate is set" : `target ${percent(target)}`}; {escalated.interval}
      </Figure>
      <Figure name="Transferred" value={transferred.value}>
        {transferred.interval}
      </Figure>
      <Figure
        name="First token saved"
        value={paired?.savedMsMedian == null ? "not measured" : milliseconds(paired.savedMsMedian)}
      >
        {paired?.savedMsMedian == null
          ? "needs escalated requests that were answered natively too: the random share"
          : `median of ${count(paired.requests)} answered both ways; p95 ${milliseconds(paired.savedMsP95)}`}
      </Figure>
      <Figure name="Live agreement" value={live.value}>
        first token of kept answers as the target says it; {live.interval}. Not retention
      </Figure>
      <Figure name="Refused" value={count(total.refused)}>
        {total.refused === 0
          ? "nobody was turned away"
          : total.shortfallBytes > 0
            ? `${bytes(total.shortfallBytes / total.refused)} missing in the mean`
            : "none of them for memory"}
        {total.failed > 0 ? `; ${count(total.failed)} failed` : ""}
        {total.clientErrors > 0 ? `; ${plural(total.clientErrors, "client error")}` : ""}
      </Figure>
    </dl>
  );
}

function Figure({ name, value, children }: { name: string; value: string; children: ReactNode }) {
  return (
    <div className="min-w-0 rounded-xl border border-line bg-card p-4">
      <dt className="text-[0.8125rem] text-ink-soft">{name}</dt>
      <dd>
        <span className="block text-xl font-semibold tracking-tight tabular-nums">{value}</span>
        <span className="mt-0.5 block text-[0.8125rem] text-ink-soft">{children}</span>
      </dd>
    </div>
  );
}
