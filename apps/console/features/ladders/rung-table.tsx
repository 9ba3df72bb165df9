import { correctPerSecond, type Ladder, type LadderRung } from "@helm/contracts";
import { Card } from "../../ui/card";
import { FigureTable } from "../../ui/chart-frame";
import { bytes, count, milliseconds, plural } from "../../ui/numbers";

const HEAD = [
  "Clients",
  "Requests",
  "Correct",
  "Refused",
  "Failed",
  "Corrupted",
  "Correct/s",
  "First token p50",
  "p95",
  "Between tokens",
  "Memory",
];

/** Every rung's figures, and under them every rule that one broke. */
export function RungTable({ ladder, title = "Rungs" }: { ladder: Ladder; title?: string }) {
  const broke = ladder.rungs.flatMap((rung) => rung.broke.map((one) => ({ ...one, clients: rung.clients })));
  const slow = broke.some(({ rule }) => rule === "INTER_TOKEN_LATENCY");
  const gaps = ladder.rungs.filter((rung) => rung.shortfall_bytes !== null);
  return (
    <Card title={title}>
      <FigureTable caption={title} head={HEAD} rows={ladder.rungs.map(cells)} />
      {broke.length > 0 ? (
        <ul className="mt-3 space-y-2">
          {broke.map(({ clients, rule, message }) => (
            <li
              key={`${clients} ${rule}`}
              className="rounded-lg bg-warn-wash px-3 py-2 text-[0.8125rem] text-warn-ink"
            >
              <b className="font-semibold">{rule}</b> at {plural(clients, "client")}: {message}
            </li>
          ))}
        </ul>
      ) : null}
      {ladder.development && slow ? (
        <p className="mt-2 text-[0.8125rem] text-ink-soft">
          On a CPU tokens come slower by nature: INTER_TOKEN_LATENCY is reported and ends nothing.
        </p>
      ) : null}
      {gaps.map(({ clients, refused, shortfall_bytes }) => (
        <p key={clients} className="mt-2 text-[0.8125rem] text-ink-soft">
          {count(refused)} refused at {plural(clients, "client")}: up to {bytes(shortfall_bytes)} of cache
          were missing.
        </p>
      ))}
    </Card>
  );
}

function cells(rung: LadderRung) {
  return [
    count(rung.clients),
    count(rung.requests),
    count(rung.correct),
    count(rung.refused),
    count(rung.failed),
    count(rung.corrupted),
    correctPerSecond(rung).toFixed(1),
    rung.first_token_ms ? milliseconds(rung.first_token_ms.p50) : "",
    rung.first_token_ms ? milliseconds(rung.first_token_ms.p95) : "",
    rung.itl_ms ? milliseconds(rung.itl_ms.p50) : "",
    rung.memory_bytes === null ? "not reported" : bytes(rung.memory_bytes),
  ];
}
