import type { CalibrationState, Verdict } from "@helm/contracts";
import { Badge, type Shape, type Tone } from "../../ui/badge";

export const STATE: Record<CalibrationState, { tone: Tone; shape: Shape; sentence: string }> = {
  QUEUED: { tone: "plain", shape: "circle", sentence: "Waits for a worker." },
  RUNNING: { tone: "busy", shape: "spin", sentence: "A worker is at it." },
  SUCCEEDED: { tone: "good", shape: "check", sentence: "Fitted, scored and judged." },
  FAILED: { tone: "bad", shape: "cross", sentence: "Ended without a score that counts." },
  CANCELLED: { tone: "plain", shape: "slash", sentence: "Ended by a person." },
  LOST: {
    tone: "warn",
    shape: "alert",
    sentence: "The worker stopped reporting. It may come back and go on.",
  },
};

export function RunState({ state }: { state: CalibrationState }) {
  const { tone, shape } = STATE[state];
  return (
    <Badge tone={tone} shape={shape}>
      {state}
    </Badge>
  );
}

export function VerdictBadge({ verdict }: { verdict: Verdict | null }) {
  if (verdict === null) return null;
  return verdict === "CLEARED" ? (
    <Badge tone="good" shape="check">
      CLEARED
    </Badge>
  ) : (
    <Badge tone="warn" shape="alert">
      BELOW_GATE
    </Badge>
  );
}
