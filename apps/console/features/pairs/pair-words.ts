import type { PairStatus, Warning } from "@helm/contracts";
import type { Outputs } from "../../api/trpc";
import type { Shape, Tone } from "../../ui/badge";

export type Pair = Outputs["pair"]["list"][number];
export type Score = NonNullable<Pair["lastScore"]>;

export const STATUS: Record<PairStatus, { tone: Tone; shape: Shape; sentence: string }> = {
  ELIGIBLE: { tone: "good", shape: "check", sentence: "Has an active mapper that cleared the gate." },
  TRANSFER_INELIGIBLE: {
    tone: "warn",
    shape: "alert",
    sentence: "Measured and below the gate, so never used.",
  },
  NOT_CALIBRATED: { tone: "plain", shape: "dashed", sentence: "Never measured, so never used." },
};

export const WARNING: Record<Warning, string> = {
  NOT_ABOVE_PILOT:
    "The transferred target does not beat the pilot answering alone, so routing does not use this pair.",
  TARGET_NOT_BETTER:
    "The target itself does not beat the pilot on these probes, so routing does not use this pair.",
  GATE_OVERFITTED: "The report probes score lower than the gate probes by more than their intervals.",
};

/** What is measured of a pair: its active mapper's score, else that of the newest run that has one. */
export function shownScore(pair: Pair): Score | null {
  return pair.active ?? pair.lastScore;
}

export function statusSentence(pair: Pair): string {
  const later =
    pair.active && pair.lastScore && pair.lastScore.calibrationId !== pair.active.calibrationId
      ? pair.lastScore
      : null;
  if (later?.verdict === "BELOW_GATE")
    return "The last run was below the gate; the mapper of an earlier one stays active.";
  return STATUS[pair.status].sentence;
}

/** The server writes a pair's name with an arrow; pages say it in words, as they do everywhere else. */
export function pairName(name: string): string {
  return name.replaceAll(" -> ", " to ");
}

export function pairTitle(pair: { source: { id: string }; target: { id: string } }): string {
  return `${pair.source.id} to ${pair.target.id}`;
}
