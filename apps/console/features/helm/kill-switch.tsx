"use client";

import { useState } from "react";
import { Button } from "../../ui/button";
import { ConfirmDialog } from "../../ui/dialog";
import { milliseconds, plural } from "../../ui/numbers";
import { TimeAgo } from "../preferences/time";
import { useBlocked } from "../session/use-session";
import { type Overview, useKillSwitch, useKillSwitchReach } from "./use-helm-switch";

/** Shown while Helm is on, or while it is pulled: with Helm off there is nothing to cut. */
export function KillSwitch({ overview }: { overview: Overview }) {
  const [open, setOpen] = useState(false);
  const change = useKillSwitch();
  const blocked = useBlocked("admin");
  const pull = !overview.killSwitch;
  if (!overview.enabled && !overview.killSwitch) return null;
  return (
    <div
      className={`mt-3 flex flex-wrap items-center justify-between gap-3 rounded-lg px-3 py-2 ${overview.killSwitch ? "bg-bad-wash text-bad-ink" : "bg-panel"}`}
    >
      <div className="min-w-0">
        <p>
          {overview.killSwitch ? (
            <>
              <strong className="font-semibold">The kill switch is pulled.</strong> Every node serves every
              route by its target, whatever stands above.
            </>
          ) : (
            "Kill switch: takes Helm out of service on every connected node within a second."
          )}
        </p>
        <Reach shown={overview.killSwitch} />
      </div>
      <Button
        size="small"
        kind={pull ? "danger" : "plain"}
        busy={change.isPending}
        blockedBecause={blocked}
        onClick={() => setOpen(true)}
      >
        {pull ? "Pull the kill switch" : "Release it"}
      </Button>
      <ConfirmDialog
        open={open}
        onOpenChange={setOpen}
        title={pull ? "Pull the kill switch?" : "Release the kill switch?"}
        description={
          pull
            ? "Every connected node stops using the pilot and the transfer within a second. The configuration stays as it is."
            : "Nodes go back to the configuration that stands above."
        }
        confirm={pull ? "Pull it" : "Release it"}
        kind={pull ? "danger" : "primary"}
        onConfirm={() => {
          change.mutate(pull ? { on: true } : { on: false, revision: overview.revision });
          setOpen(false);
        }}
      />
    </div>
  );
}

/** How many nodes took it, in what time, and which did not; also after it was released. */
function Reach({ shown }: { shown: boolean }) {
  const reach = useKillSwitchReach(true).data;
  if (!reach?.at || (!shown && Date.now() - reach.at.getTime() > 3_600_000)) return null;
  const took = reach.nodes.filter((node) => node.took);
  const slowest = Math.max(...took.map(({ ms }) => ms ?? 0));
  const missing = reach.nodes.filter((node) => !node.took);
  return (
    <p role="status" className="mt-1 text-[0.8125rem]">
      {reach.on ? "Pulled" : "Released"} <TimeAgo at={reach.at} />: {took.length} of{" "}
      {plural(reach.nodes.length, "node")} took it
      {slowest > 0 ? `, the slowest after ${milliseconds(slowest)}` : ""}.
      {missing.length > 0
        ? ` Not yet: ${missing.map(({ name, connected }) => `${name}${connected ? "" : " (not connected; it hears of it when it comes back)"}`).join(", ")}.`
        : ""}
    </p>
  );
}
