import type { TraceJudge } from "@helm/contracts";

/** "0.71, escalated at 0.55 or more", in the judge's own measure; null where nothing was judged. */
export function judgeWords(judge: TraceJudge | null): string | null {
  if (!judge) return null;
  const [score, threshold] = [judge.score.toFixed(2), judge.threshold.toFixed(2)];
  return judge.escalate ? `${score} against ${threshold}` : score;
}

export function judgeSentence(judge: TraceJudge): string {
  const figure =
    judge.measure === "probability"
      ? `The probability that ${judge.label ?? "the target would answer differently"} was ${judge.score.toFixed(3)}; from ${judge.threshold.toFixed(3)} on an answer is escalated.`
      : `The mean log-probability of the pilot's tokens was ${judge.score.toFixed(3)}; below ${judge.threshold.toFixed(3)}, or with one token below its own bound, an answer is escalated.`;
  return `${figure} It was judged ${judge.escalate ? "hard" : "good enough"} by ${judge.version}.`;
}
