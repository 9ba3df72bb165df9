import type { Assessment, CalibrationScores, Estimate } from "@helm/contracts";
import { Card, Facts } from "../../ui/card";
import { bytes, count, share, signed } from "../../ui/numbers";
import { rescueInterval, rescueText } from "./gain-words";

/** Figures that mean something only beside one another. */
export function TogetherCard({
  assessment,
  scores,
  method,
  k,
  mapper,
}: {
  assessment: Assessment;
  scores: CalibrationScores;
  method: string;
  k: number;
  mapper: { sha256: string; bytes?: number } | null;
}) {
  const { retention, report, prefix_gain: prefixGain, net_rescue: rescue, gold_gain: gold } = assessment;
  return (
    <Card title="Read together">
      <Facts
        rows={[
          ["KL, mean", <Figure key="kl" value={nats(scores.kl)} rest={`nats, p95 ${nats(scores.kl_p95)}`} />],
          [
            "KV cosine",
            <span key="cos">
              <b className="font-semibold tabular-nums">{share(scores.kv_cosine.k)}</b> K{" "}
              <b className="ml-1 font-semibold tabular-nums">{share(scores.kv_cosine.v)}</b> V
            </span>,
          ],
          ...(typeof scores.attention_cosine === "number"
            ? [
                ["Attention output cosine", <Figure key="att" value={share(scores.attention_cosine)} />] as [
                  string,
                  React.ReactNode,
                ],
              ]
            : []),
          [
            "Prefix gain",
            prefixGain === null ? (
              "not known"
            ) : (
              <Figure key="gain" value={share(prefixGain)} rest="of what a blind cache misses" />
            ),
          ],
          [
            "Net rescue",
            rescue ? (
              <Figure
                key="rescue"
                value={rescueText(rescue) ?? ""}
                rest={`positions, ${rescueInterval(rescue)}`}
              />
            ) : (
              "not known"
            ),
          ],
          ["Gold gain", <Interval key="gold" estimate={gold} unit="nats a sequence" />],
          [
            "Report split",
            report ? (
              <Figure
                key="rep"
                value={share(report.retention)}
                rest={`${share(report.low)} to ${share(report.high)}`}
              />
            ) : (
              "not scored"
            ),
          ],
          ["Probes", `${count(retention.n)} sequences, ${count(retention.positions)} positions`],
          ["Method", `${method}, k ${k}`],
          [
            "Mapper",
            mapper ? (
              <span key="m">
                {mapper.bytes === undefined ? "" : `${bytes(mapper.bytes)}, `}sha256{" "}
                <code className="font-mono text-[0.8125rem]" title={mapper.sha256}>
                  {mapper.sha256.slice(0, 8)}
                </code>
              </span>
            ) : (
              "none"
            ),
          ],
        ]}
      />
    </Card>
  );
}

/** Divergences span decades: two figures that count, whatever their size. */
function nats(value: number): string {
  return value === 0 ? "0" : Number(value.toPrecision(2)).toString();
}

function Figure({ value, rest }: { value: string; rest?: string }) {
  return (
    <span>
      <b className="font-semibold tabular-nums">{value}</b>{" "}
      {rest ? <span className="text-[0.8125rem] text-ink-soft">{rest}</span> : null}
    </span>
  );
}

function Interval({ estimate, unit = "" }: { estimate: Estimate | null; unit?: string }) {
  if (!estimate) return "not known";
  return (
    <Figure
      value={signed(estimate.value, 3)}
      rest={`${unit ? `${unit}, ` : ""}${signed(estimate.low, 3)} to ${signed(estimate.high, 3)}`}
    />
  );
}
