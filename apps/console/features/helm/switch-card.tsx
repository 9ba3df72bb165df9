"use client";

import { useId, useState } from "react";
import { Button } from "../../ui/button";
import { ConfirmDialog } from "../../ui/dialog";
import { Switch } from "../../ui/switch";
import { useBlocked } from "../session/use-session";
import { useOpenInAddress } from "../shell/open-in-address";
import { Stats } from "./stats";
import { type Overview, useHelmSwitch, useKillSwitch } from "./use-helm-switch";

export function SwitchCard({ overview }: { overview: Overview }) {
  const id = useId();
  const [asking, setAsking] = useOpenInAddress("switch");
  const change = useHelmSwitch();
  const blocked = useBlocked("admin");
  const route = overview.route?.name ?? "the route";
  const ask = !overview.enabled;
  return (
    <section aria-labelledby={`${id}-title`} className="rounded-xl border border-line bg-card p-4 sm:p-5">
      <div className="flex items-start justify-between gap-4">
        <div className="min-w-0 max-w-[78ch]">
          <h2 id={`${id}-title`} className="text-[0.9375rem] font-semibold">
            Helm is {overview.enabled ? "on" : "off"}
          </h2>
          <p id={`${id}-words`} className="mt-0.5 text-ink-soft">
            {overview.enabled
              ? `Requests to ${route} from enabled tenants are answered by the pilot first. Requests that name a model are never touched.`
              : `Every request is served by the model it names; ${route} is served by the target.`}
          </p>
          {overview.enabled ? null : (
            <p className="mt-2">
              <span className="block font-semibold">What turning it on would change</span>
              {overview.turningOnWouldChange}
            </p>
          )}
          {blocked ? <p className="mt-1.5 text-[0.8125rem] text-ink-soft">{blocked}</p> : null}
        </div>
        <Switch
          checked={overview.enabled}
          onChange={() => setAsking(true)}
          label="Helm Intelligent Routing"
          describedBy={`${id}-words`}
          blockedBecause={blocked ?? (change.isPending ? "Being stored." : null)}
        />
      </div>
      <KillSwitch overview={overview} />
      <Stats overview={overview} />
      <ConfirmDialog
        open={asking && !blocked}
        onOpenChange={setAsking}
        title={ask ? "Turn Helm on?" : "Turn Helm off?"}
        description={
          ask
            ? overview.turningOnWouldChange
            : `Requests to ${route} go to the target alone from now on. Answers that are being written are finished.`
        }
        confirm={ask ? "Turn on" : "Turn off"}
        onConfirm={() => {
          change.mutate({ enabled: ask, revision: overview.revision });
          setAsking(false);
        }}
      />
    </section>
  );
}

/** Shown while Helm is on, or while it is pulled: with Helm off there is nothing to cut. */
function KillSwitch({ overview }: { overview: Overview }) {
  const [open, setOpen] = useState(false);
  const change = useKillSwitch();
  const blocked = useBlocked("admin");
  const on = !overview.killSwitch;
  if (!overview.enabled && !overview.killSwitch) return null;
  return (
    <div
      className={`mt-3 flex flex-wrap items-center justify-between gap-3 rounded-lg px-3 py-2 ${overview.killSwitch ? "bg-bad-wash text-bad-ink" : "bg-panel"}`}
    >
      <p className="min-w-0">
        {overview.killSwitch ? (
          <>
            <strong className="font-semibold">The kill switch is pulled.</strong> Every node serves{" "}
            {overview.route?.name ?? "the route"} by the target, whatever stands above.
          </>
        ) : (
          "Kill switch: takes Helm out of service on every connected node within a second."
        )}
      </p>
      <Button
        size="small"
        kind={on ? "danger" : "plain"}
        blockedBecause={blocked}
        onClick={() => setOpen(true)}
      >
        {on ? "Pull the kill switch" : "Release it"}
      </Button>
      <ConfirmDialog
        open={open}
        onOpenChange={setOpen}
        title={on ? "Pull the kill switch?" : "Release the kill switch?"}
        description={
          on
            ? "Every connected node stops using the pilot and the transfer within a second. The configuration stays as it is."
            : "Nodes go back to the configuration that stands above."
        }
        confirm={on ? "Pull it" : "Release it"}
        kind={on ? "danger" : "primary"}
        onConfirm={() => {
          change.mutate({ on, revision: overview.revision });
          setOpen(false);
        }}
      />
    </div>
  );
}
