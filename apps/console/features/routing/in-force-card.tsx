"use client";

import { ButtonLink } from "../../ui/button";
import { Card, Facts } from "../../ui/card";
import { plural } from "../../ui/numbers";
import { TimeAgo, useNow } from "../preferences/time";
import { duration } from "../preferences/time-words";
import { AckStrip } from "./ack-strip";
import type { Answer, RoutingState } from "./snapshot-words";

export function InForceCard({ state }: { state: RoutingState }) {
  const acked = state.nodes.filter(({ answer }) => answer?.ok).length;
  const active = state.nodes.filter(({ active: at }) => at === state.generation).length;
  return (
    <Card
      title={`Generation ${state.generation} is in force`}
      hint="What every node is to follow. A node that refuses one keeps the one before and says why."
      action={<ButtonLink href="/nodes">Nodes</ButtonLink>}
    >
      <Facts
        rows={[
          ["Published", <TimeAgo key="p" at={state.createdAt} />],
          ["Acked", `${acked} of ${plural(state.nodes.length, "node")}`],
          ["Active", `${active} of ${plural(state.nodes.length, "node")}`],
          ["Nodes", <AckStrip key="n" answers={state.nodes.map(answerOf)} />],
        ]}
      />
      {state.nodes
        .filter(({ answer }) => answer && !answer.ok)
        .map(({ id, name, answer }) => (
          <p key={id} role="alert" className="mt-3 rounded-lg bg-bad-wash px-3 py-2 text-bad-ink">
            {name} refused it and keeps generation {answer?.kept ?? "before it"}: {answer?.reason}
          </p>
        ))}
    </Card>
  );
}

function answerOf({ name, connected, answer }: RoutingState["nodes"][number]): Answer {
  if (!answer)
    return {
      node: name,
      kind: "silent",
      words: connected ? "has not answered" : "has not answered; it is not connected",
    };
  return answer.ok
    ? { node: name, kind: "acked", words: "acked" }
    : { node: name, kind: "refused", words: `refused it: ${answer.reason}` };
}

/** The other document: it goes by versions of its own and never back. */
export function AccessListCard({ state: { access, nodes } }: { state: RoutingState }) {
  const now = useNow();
  const age = access.issuedAt ? now - access.issuedAt.getTime() : null;
  const behind = nodes.filter((node) => node.access < access.version);
  return (
    <Card
      title={`Access list, version ${access.version}`}
      hint="Keys, tenants and the kill switch: a document of its own that is never rolled back."
    >
      <Facts
        rows={[
          ["Issued", <TimeAgo key="i" at={access.issuedAt} />],
          [
            "Age",
            age === null
              ? "none yet"
              : `${duration(age)}; it is issued again every hour. A node that hears nothing turns Helm off after ${spanWords(access.helmOffAfterS)} and refuses keys after ${spanWords(access.refuseKeysAfterS)}.`,
          ],
          ["Holds", `${plural(access.keys, "key")} of ${plural(access.tenants, "tenant")}`],
          ["Kill switch", access.killSwitch ? "ON: everything is served natively" : "off"],
          [
            "Nodes",
            behind.length === 0
              ? "all have this version"
              : behind.map((node) => `${node.name} has ${node.access || "none"}`).join(", "),
          ],
        ]}
      />
      {nodes
        .filter(({ accessNackReason }) => accessNackReason !== null)
        .map(({ id, name, accessNackReason }) => (
          <p key={id} role="alert" className="mt-3 rounded-lg bg-bad-wash px-3 py-2 text-bad-ink">
            {name} refused it: {accessNackReason}
          </p>
        ))}
    </Card>
  );
}

/** 86400 -> "24 h", 604800 -> "7 days". */
function spanWords(seconds: number): string {
  const days = seconds / 86_400;
  return days >= 2 && Number.isInteger(days) ? `${days} days` : `${Math.round(seconds / 360) / 10} h`;
}
