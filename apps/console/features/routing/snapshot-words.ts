import { auditWords } from "@helm/contracts";
import type { Outputs } from "../../api/trpc";

export type Snapshot = Outputs["snapshot"]["list"]["rows"][number];
export type RoutingState = Outputs["snapshot"]["state"];
export type Difference = Outputs["snapshot"]["diff"]["differences"][number];

/** Why a generation came to be, in words; a verb without words of its own is shown as the audit names it. */
export function causeWords({ verbs, rolledBackTo }: Pick<Snapshot, "verbs" | "rolledBackTo">): string {
  const words = [...new Set(verbs.map((verb) => auditWords(verb)))];
  if (words.length === 0) return "written at a start";
  const said = words.join(", ");
  if (rolledBackTo === null) return said;
  return verbs.includes("snapshot.rollback")
    ? `rolled back to ${rolledBackTo}`
    : `${said}, while held at ${rolledBackTo}`;
}

export type Answer = { node: string; kind: "acked" | "refused" | "silent"; words: string };

/** What each node of now, and each that has answered since gone, said to a generation. */
export function answersTo(
  acks: Snapshot["acks"],
  nodes: readonly { id: string; name: string; connected: boolean }[],
): Answer[] {
  const answered = acks.map(
    ({ node, ok, reason, kept }): Answer => ({
      node,
      kind: ok ? "acked" : "refused",
      words: ok ? "acked" : `refused it and keeps ${kept ?? "what it had"}: ${reason}`,
    }),
  );
  const silent = nodes
    .filter(({ id }) => !acks.some(({ nodeId }) => nodeId === id))
    .map(
      ({ name, connected }): Answer => ({
        node: name,
        kind: "silent",
        words: connected ? "has not answered" : "has not answered; it is not connected",
      }),
    );
  return [...answered, ...silent].sort((a, b) => a.node.localeCompare(b.node));
}
