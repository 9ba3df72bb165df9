"use client";

import Link from "next/link";
import { useState } from "react";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Card, Facts } from "../../ui/card";
import { Dialog } from "../../ui/dialog";
import { count, percent, plural } from "../../ui/numbers";
import { Empty } from "../../ui/states";
import { choiceOf } from "../judge/judge-words";
import { pairName } from "../pairs/pair-words";
import { useBlocked } from "../session/use-session";
import { command } from "../shell/commands";
import { RemoveRoute } from "./remove-route";
import { RouteForm } from "./route-form";
import { STREAMING } from "./streaming-words";
import type { Route } from "./use-helm-switch";

export function RoutesCard({ routes }: { routes: Route[] }) {
  const [creating, setCreating] = useState(false);
  const blocked = useBlocked("admin");
  return (
    <Card
      title="Routes"
      hint="Model names of ours: clients ask for one where they leave the choice to Helm."
      action={
        <Button size="small" blockedBecause={blocked} onClick={() => setCreating(true)}>
          Create a route
        </Button>
      }
    >
      {routes.length === 0 ? (
        <Empty title="No route yet" command={command.createRoute("NAME")}>
          The first pair that is registered gets the route helm-auto.
        </Empty>
      ) : (
        <ul className="space-y-4 divide-y divide-line [&>li+li]:pt-4">
          {routes.map((route) => (
            <li key={route.id}>
              <OneRoute route={route} />
            </li>
          ))}
        </ul>
      )}
      <Dialog
        open={creating}
        onOpenChange={setCreating}
        title="Create a route"
        description="A further name beside those that there are, with a pair and thresholds of its own."
      >
        <RouteForm route={null} onDone={() => setCreating(false)} />
      </Dialog>
    </Card>
  );
}

function OneRoute({ route }: { route: Route }) {
  const [editing, setEditing] = useState(false);
  const blocked = useBlocked("admin");
  return (
    <section aria-label={`Route ${route.name}`}>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="flex flex-wrap items-center gap-2 font-mono text-[0.875rem] font-semibold break-all">
          {route.name}
          {route.isDefault ? <Badge>Default</Badge> : null}
        </h3>
        <span className="flex gap-2">
          <Button size="small" blockedBecause={blocked} onClick={() => setEditing(true)}>
            Edit<span className="sr-only"> the route {route.name}</span>
          </Button>
          <RemoveRoute route={route} />
        </span>
      </div>
      <Facts
        rows={[
          ["Pair", <PairWords key="p" route={route} />],
          ["Judge", <JudgeWords key="e" route={route} />],
          [
            route.judgeTable ? "Bounds" : "Escalate",
            <span key="b">
              where the answer's mean token log-probability is below{" "}
              <b className="font-semibold">{route.judge.meanLogprob}</b>, or its least below{" "}
              <b className="font-semibold">{route.judge.minLogprob}</b>
              <span className="text-ink-soft">
                {" "}
                {route.judgeTable
                  ? "(for tenants who hold back another share of the answer)"
                  : "(no quality floor is guaranteed)"}
              </span>
            </span>,
          ],
          ["Streaming", STREAMING[route.streaming](route.window)],
          [
            "Hold",
            route.holdTurns === null
              ? "after an escalation a session stays on the target"
              : `${plural(route.holdTurns, "answer")} of the target, then the pilot again`,
          ],
          [
            "Switches",
            `a conversation's cache is carried across ${plural(route.maxSwitches, "time")} at most, then the model prefills`,
          ],
          [
            "Shares",
            `also answered another way: ${percent(route.shareKept, 2)} of kept, ${percent(route.shareEscalated, 2)} of escalated; ${percent(route.shareForced, 2)} escalated by chance`,
          ],
          ["Default length", `${count(route.defaultMaxTokens)} tokens where a request names none`],
        ]}
      />
      <Dialog
        open={editing}
        onOpenChange={setEditing}
        title={`Edit ${route.name}`}
        description="Nodes get the change as a new generation."
      >
        <RouteForm route={route} onDone={() => setEditing(false)} />
      </Dialog>
    </section>
  );
}

function JudgeWords({ route: { judgeTable, pairId } }: { route: Route }) {
  if (!judgeTable) return <>the two bounds below</>;
  if (judgeTable.stale)
    return (
      <>
        table {judgeTable.sha256.slice(0, 12)} is of other weights: until there is a new one, the bounds below
        judge
      </>
    );
  return (
    <>
      <Link
        href={`/pairs/${pairId}?judge=${judgeTable.sha256.slice(0, 12)}`}
        className="underline underline-offset-4"
      >
        table {judgeTable.sha256.slice(0, 12)}
      </Link>
      , {choiceOf(judgeTable.by)}. <span className="text-ink-soft">{judgeTable.threshold.sentence}</span>
    </>
  );
}

function PairWords({ route }: { route: Route }) {
  const name = pairName(route.pairName);
  return (
    <>
      {name}
      <span className="block text-[0.8125rem] text-ink-soft">
        {route.refusal
          ? `may not be used (${route.refusal}): every request goes to the target`
          : `ready on ${route.readyNodes} of ${route.connectedNodes} connected ${route.connectedNodes === 1 ? "node" : "nodes"}`}
      </span>
    </>
  );
}
