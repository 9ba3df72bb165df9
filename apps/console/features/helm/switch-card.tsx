"use client";

import { useId } from "react";
import { ConfirmDialog } from "../../ui/dialog";
import { Switch } from "../../ui/switch";
import { useBlocked } from "../session/use-session";
import { useOpenInAddress } from "../shell/open-in-address";
import { KillSwitch } from "./kill-switch";
import { Stats } from "./stats";
import { useFreshOverview } from "./use-fresh-overview";
import { type Overview, useHelmSwitch } from "./use-helm-switch";

export function SwitchCard({ overview }: { overview: Overview }) {
  const id = useId();
  const [asking, setAsking] = useOpenInAddress("switch");
  const change = useHelmSwitch();
  const blocked = useBlocked("admin");
  const fresh = useFreshOverview(asking);
  const { routes } = overview;
  const one = routes.length === 1;
  const route = routes.length === 0 ? "the route" : routes.map(({ name }) => name).join(", ");
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
              : `Every request is served by the model it names; ${route} ${one ? "is served by its target" : "are served by their targets"}.`}
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
          blockedBecause={blocked ?? (change.pending ? "Being stored." : null)}
        />
      </div>
      <KillSwitch overview={overview} />
      <Stats overview={overview} />
      <ConfirmDialog
        open={asking && !blocked}
        onOpenChange={setAsking}
        title={ask ? "Turn Helm on?" : "Turn Helm off?"}
        busy={!fresh}
        description={
          ask
            ? fresh
              ? overview.turningOnWouldChange
              : "Asking what this would change now."
            : `Requests to ${route} go to the target alone from now on. Answers that are being written are finished.`
        }
        confirm={ask ? "Turn on" : "Turn off"}
        onConfirm={() => {
          void change.change(ask, overview.revision);
          setAsking(false);
        }}
      />
      {change.dialog}
    </section>
  );
}
