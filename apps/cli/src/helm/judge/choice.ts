import type { JudgeBy } from "@helm/contracts";
import { usage } from "../../failure";
import type { Server } from "../../server/client";
import { readBy } from "./show";

type Raw = Record<string, string | boolean | undefined>;

/**
 * What a route is to judge by: undefined where nothing is said of it, null for its two bounds. What is not given stays as
 * `held` has it. Errors: usage where table or threshold is missing.
 */
export async function readJudgeChoice(
  server: Server,
  raw: Raw,
  held: { id: string; by: JudgeBy } | null,
): Promise<{ id: string; by: JudgeBy } | null | undefined> {
  const by = readBy(raw) ?? held?.by;
  if (raw.judge === undefined) {
    if (readBy(raw) === null) return undefined;
    if (!held || !by) throw usage("Name the table, too: --judge TABLE. lifeboat helm judge list shows them.");
    return { id: held.id, by };
  }
  if (raw.judge === "none") {
    if (readBy(raw)) throw usage("--judge none has no rate and no floor: the two bounds judge then.");
    return null;
  }
  if (!by) throw usage("Say from where on it escalates: --escalation-rate 0.2, or --quality-floor 0.95.");
  const { id } = await server.judge.get.query({ id: String(raw.judge) });
  return { id, by };
}
