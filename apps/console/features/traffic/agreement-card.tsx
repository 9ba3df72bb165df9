"use client";

import { QueryView } from "../../api/query-view";
import { Card, Facts } from "../../ui/card";
import { count, plural } from "../../ui/numbers";
import { Empty } from "../../ui/states";
import { proportionWords } from "./traffic-words";
import { type Agreement, type TrafficRange, useAgreement } from "./use-traffic";

/** What the random shares say. Live agreement is no retention, and nothing here is drawn as if it were. */
export function AgreementCard({ range }: { range: TrafficRange }) {
  const agreement = useAgreement(range);
  return (
    <Card
      title="Answered both ways"
      hint="Drawn by chance and compared token by token, up to and including the first difference: live agreement. Retention is measured by a calibration; this is another number."
    >
      <QueryView query={agreement} label="Loading the random shares" rows={3}>
        {(data) =>
          data.keptAlsoTarget.requests + data.escalatedAlsoNative.requests + data.outcomes.forced === 0 ? (
            <Empty title="No request was answered both ways yet">
              A route's random shares do that while there is room; they are set with the route on the Helm
              page.
            </Empty>
          ) : (
            <Facts rows={rowsOf(data)} />
          )
        }
      </QueryView>
    </Card>
  );
}

function rowsOf({ keptAlsoTarget, escalatedAlsoNative, outcomes }: Agreement): [string, string][] {
  const tell = ({ requests, firstToken, positions }: Agreement["keptAlsoTarget"]) => {
    const first = proportionWords(firstToken);
    const all = proportionWords(positions);
    return requests === 0
      ? "none"
      : `${plural(requests, "request")}. First token: ${first.value} (${first.interval}). Positions: ${all.value} (${all.interval}).`;
  };
  return [
    ["Kept, and the target too", tell(keptAlsoTarget)],
    ["Carried across, and natively too", tell(escalatedAlsoNative)],
    [
      "Of escalations",
      `${count(outcomes.rescued)} rescued, ${count(outcomes.wasted)} wasted, ${count(outcomes.futile)} futile; ${count(outcomes.forced)} forced by chance`,
    ],
  ];
}
