"use client";

import { useState } from "react";
import { Button } from "../../ui/button";
import { Card, Facts } from "../../ui/card";
import { Dialog } from "../../ui/dialog";
import { count } from "../../ui/numbers";
import { Empty } from "../../ui/states";
import { useBlocked } from "../session/use-session";
import { RouteForm } from "./route-form";
import type { Route } from "./use-helm-switch";

export function RouteCard({ route }: { route: Route | null }) {
  const [open, setOpen] = useState(false);
  const blocked = useBlocked("admin");
  if (!route) {
    return (
      <Card title="Route">
        <Empty title="No route yet">The first pair that is registered gets the route helm-auto.</Empty>
      </Card>
    );
  }
  return (
    <Card
      title={
        <>
          Route <span className="font-mono text-[0.875rem]">{route.name}</span>
        </>
      }
      hint="The model name that clients ask for when they leave the choice to Helm."
      action={
        <Button size="small" blockedBecause={blocked} onClick={() => setOpen(true)}>
          Edit<span className="sr-only"> the route</span>
        </Button>
      }
    >
      <Facts
        rows={[
          ["Pair", route.pairName.replace(" -> ", " to ")],
          [
            "Escalate",
            <span key="e">
              where the answer's mean token log-probability is below{" "}
              <b className="font-semibold">{route.judge.meanLogprob}</b>, or its least below{" "}
              <b className="font-semibold">{route.judge.minLogprob}</b>
              <span className="text-ink-soft">
                {" "}
                (judge {route.judge.version}; no quality floor is guaranteed)
              </span>
            </span>,
          ],
          ["Streaming", STREAMING[route.streaming](route.window)],
          [
            "Hold",
            route.holdTurns === null
              ? "after an escalation a session stays on the target"
              : `${route.holdTurns} turns on the target, then down again`,
          ],
          ["Default length", `${count(route.defaultMaxTokens)} tokens where a request names none`],
        ]}
      />
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={`Edit ${route.name}`}
        description="Nodes get the change as a new generation."
      >
        <RouteForm route={route} onDone={() => setOpen(false)} />
      </Dialog>
    </Card>
  );
}

export const STREAMING: Record<Route["streaming"], (window: number) => string> = {
  buffer: () => "judge the whole answer, then send it",
  window: (tokens) => `hold back the first ${tokens} tokens, judge those, then commit`,
  stream: () => "send at once and never escalate",
};
