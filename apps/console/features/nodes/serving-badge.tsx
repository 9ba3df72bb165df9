import type { ServingState } from "@helm/contracts";
import { Badge, type Shape, type Tone } from "../../ui/badge";
import type { Node } from "./node-words";

const LOOK: Record<ServingState, { tone: Tone; shape: Shape; word: string }> = {
  JOINING: { tone: "busy", shape: "spin", word: "Joining" },
  SERVING: { tone: "good", shape: "check", word: "Serving" },
  DRAINING: { tone: "warn", shape: "spin", word: "Draining" },
  DRAINED: { tone: "warn", shape: "slash", word: "Drained" },
  PARKED: { tone: "warn", shape: "slash", word: "Parked" },
};

/** What the node says of itself, and beside it the order that it has not taken up yet. */
export function ServingBadge({ node }: { node: Node }) {
  const serving = node.readiness?.serving;
  const known = serving?.orders_revision ?? 0;
  const waiting = node.orders.revision > known;
  return (
    <>
      {serving ? (
        <Badge tone={LOOK[serving.state].tone} shape={LOOK[serving.state].shape}>
          {LOOK[serving.state].word}
        </Badge>
      ) : null}
      {waiting ? (
        <Badge tone="busy" shape="dot">
          {node.orders.parkedFor.length > 0
            ? "Told to park"
            : node.orders.drain
              ? "Told to drain"
              : "Told to serve"}
        </Badge>
      ) : null}
    </>
  );
}

export function HealthBadge({ node: { readiness } }: { node: Node }) {
  if (!readiness) return <Badge shape="dashed">Not reported yet</Badge>;
  // Parked it is meant to have none.
  if (readiness.serving?.state === "PARKED") return <Badge shape="slash">Engine stopped</Badge>;
  return readiness.engine.healthy ? (
    <Badge tone="good" shape="check">
      Engine healthy
    </Badge>
  ) : (
    <Badge tone="bad" shape="cross">
      Engine not healthy
    </Badge>
  );
}
