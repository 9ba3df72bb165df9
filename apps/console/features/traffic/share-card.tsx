import type { TraceShare } from "@helm/contracts";
import { Card, Facts } from "../../ui/card";
import { count, milliseconds, percent } from "../../ui/numbers";

const KIND_WORDS: Record<TraceShare["kind"], string> = {
  kept_also_target: "The pilot's answer went out, and the target was asked too.",
  escalated_also_native: "It was escalated, and the target read the prompt itself too.",
  forced_escalation: "It was escalated by chance, whatever the judge said.",
};

/** What a random share brought: only what was measured is shown. */
export function ShareCard({ share, firstTokenMs }: { share: TraceShare; firstTokenMs: number | null }) {
  const rows: [string, string][] = [["Drawn with probability", percent(share.propensity)]];
  const { positions, first_token_agrees: first } = share;
  if (first !== null && first !== undefined) rows.push(["First token", first ? "the same" : "another"]);
  if (positions)
    rows.push([
      "Live agreement",
      `${count(positions.agreed)} of ${count(positions.compared)} positions, up to and including the first difference. Not retention`,
    ]);
  if (share.first_token_ms != null)
    rows.push([
      "First token the other way",
      `${milliseconds(share.first_token_ms)} beside ${milliseconds(firstTokenMs)}`,
    ]);
  if (share.pilot_mean_loglik != null)
    rows.push([
      "The target's log-likelihood of the pilot's answer",
      `${share.pilot_mean_loglik.toFixed(4)} nats a token`,
    ]);
  if (share.target_mean_loglik != null)
    rows.push(["Of its own", `${share.target_mean_loglik.toFixed(4)} nats a token`]);
  if (share.label) rows.push(["Outcome", share.label]);
  return (
    <Card title="Answered both ways" hint={KIND_WORDS[share.kind]}>
      <Facts rows={rows} />
    </Card>
  );
}
