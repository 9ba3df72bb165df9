import type { JudgeBy } from "@helm/contracts";
import { z } from "zod";

/** The table that judges a route's answers, and by which of the two its threshold is chosen. Empty: the two bounds judge. */
export const JudgeTableShape = {
  judgeTableId: z.string(),
  judgeBy: z.enum(["escalation_rate", "quality_floor"]),
  judgeShare: z.coerce.number<number>("A number.").min(0, "At least 0.").max(1, "At most 1."),
};

const Fields = z.object(JudgeTableShape);
type Chosen = z.output<typeof Fields>;

export type JudgeTableField = keyof typeof JudgeTableShape;

export function choiceOfFields({
  judgeTableId,
  judgeBy,
  judgeShare,
}: Chosen): { id: string; by: JudgeBy } | null {
  if (judgeTableId === "") return null;
  const by = judgeBy === "escalation_rate" ? { escalation_rate: judgeShare } : { quality_floor: judgeShare };
  return { id: judgeTableId, by };
}

export function fieldsOfChoice(choice: { id: string; by: JudgeBy } | null): Chosen {
  if (!choice) return { judgeTableId: "", judgeBy: "escalation_rate", judgeShare: 0.2 };
  const { id, by } = choice;
  return "escalation_rate" in by
    ? { judgeTableId: id, judgeBy: "escalation_rate", judgeShare: by.escalation_rate }
    : { judgeTableId: id, judgeBy: "quality_floor", judgeShare: by.quality_floor };
}
