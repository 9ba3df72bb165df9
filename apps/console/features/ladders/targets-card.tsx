import { type Ladder, targetOutcomes } from "@helm/contracts";
import { Badge } from "../../ui/badge";
import { Card } from "../../ui/card";
import { plural } from "../../ui/numbers";

/** What was written down before the run, beside what the run gave. */
export function TargetsCard({ ladder }: { ladder: Ladder }) {
  const outcomes = targetOutcomes(ladder);
  return (
    <Card title="Targets" hint="Written down before the run.">
      {outcomes.length === 0 ? (
        <p className="text-ink-soft">
          None was written down, so nothing here can be met. Give them with{" "}
          <code className="whitespace-nowrap font-mono text-[0.8125rem]">--targets</code>.
        </p>
      ) : (
        <ul className="divide-y divide-line">
          {outcomes.map(({ target, reached, met }) => (
            <li key={target.clients} className="flex flex-wrap items-center justify-between gap-2 py-2.5">
              <span>
                {target.requests_per_second}/s at {plural(target.clients, "client")}
              </span>
              <span className="flex items-center gap-2 tabular-nums">
                {reached === null ? null : `${reached.toFixed(1)}/s`}
                <Badge tone={met ? "good" : "warn"}>
                  {met ? "met" : reached === null ? "not reached" : "not met"}
                </Badge>
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
