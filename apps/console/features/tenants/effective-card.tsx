"use client";

import { useQuery } from "@tanstack/react-query";
import { QueryView } from "../../api/query-view";
import { useTRPC } from "../../api/trpc";
import { Badge } from "../../ui/badge";
import { Card, Facts } from "../../ui/card";
import { pairName } from "../pairs/pair-words";

const WHOSE = { fleet: "fleet", route: "route", tenant: "this tenant" } as const;

/** What holds for this tenant's requests now, route by route, and whose word each value is. */
export function EffectiveCard({ tenantId }: { tenantId: string }) {
  const trpc = useTRPC();
  const effective = useQuery(trpc.tenant.effective.queryOptions({ id: tenantId }));
  return (
    <Card
      title="What holds"
      hint="By the rule that nodes serve by: the tenant's own word where it has one, else the route's."
    >
      <QueryView query={effective} label="Loading what holds" rows={4}>
        {({ helm, routes }) => (
          <div className="space-y-4">
            <p>
              <Badge tone={helm.on ? "good" : "plain"} shape={helm.on ? "check" : "slash"}>
                Helm {helm.on ? "on" : "off"}
              </Badge>{" "}
              {helm.sentence} <Whose from={helm.from} />
            </p>
            {routes.length === 0 ? <p className="text-ink-soft">There is no route yet.</p> : null}
            {routes.map((route) => (
              <div key={route.name}>
                <h3 className="font-mono text-[0.875rem] font-semibold">{route.name}</h3>
                <p className="text-[0.8125rem] text-ink-soft">
                  {pairName(route.pairName)}
                  {route.refusal ? `, which may not be used (${route.refusal}): its target answers` : ""}
                </p>
                <Facts
                  rows={route.settings.map(({ name, value, from }) => [
                    name,
                    <span key={name} className="flex flex-wrap items-center justify-between gap-x-3">
                      <span className="font-semibold tabular-nums">{value}</span>
                      <Whose from={from} />
                    </span>,
                  ])}
                />
              </div>
            ))}
          </div>
        )}
      </QueryView>
    </Card>
  );
}

function Whose({ from }: { from: keyof typeof WHOSE }) {
  return (
    <Badge tone={from === "tenant" ? "accent" : "plain"}>
      <span className="sr-only">comes from </span>
      {WHOSE[from]}
    </Badge>
  );
}
