"use client";

import type { MapperState } from "@helm/contracts";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import Link from "next/link";
import { useState } from "react";
import { QueryView } from "../../api/query-view";
import { tellProblem, tellStored } from "../../api/tell";
import { type Outputs, useTRPC } from "../../api/trpc";
import { Badge, type Shape, type Tone } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { ConfirmDialog } from "../../ui/dialog";
import { bytes, share } from "../../ui/numbers";
import { TimeAgo } from "../preferences/time";
import { useBlocked } from "../session/use-session";

type Mapper = Outputs["mapper"]["list"][number];

const STATE: Record<MapperState, { tone: Tone; shape: Shape }> = {
  ACTIVE: { tone: "good", shape: "check" },
  INACTIVE: { tone: "plain", shape: "circle" },
  RETIRED: { tone: "plain", shape: "slash" },
};

export function MappersCard({ pairId }: { pairId: string }) {
  const trpc = useTRPC();
  const mappers = useQuery(trpc.mapper.list.queryOptions({ pairId }));
  return (
    <Card
      title="Mappers"
      hint="One is active at most. The first that clears becomes active by itself; later ones by an admin."
    >
      <QueryView query={mappers} label="Loading mappers">
        {(rows) =>
          rows.length === 0 ? (
            <p className="text-ink-soft">None written yet.</p>
          ) : (
            <ul className="divide-y divide-line">
              {rows.map((mapper) => (
                <li
                  key={mapper.id}
                  className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 py-2.5"
                >
                  <div className="min-w-0">
                    <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
                      <Link
                        href={`/calibrations/${mapper.calibrationId}`}
                        className="font-mono text-[0.8125rem] underline-offset-4 hover:underline"
                        title={mapper.sha256}
                      >
                        {mapper.sha256.slice(0, 12)}
                      </Link>
                      <Badge {...STATE[mapper.state]}>{mapper.state}</Badge>
                    </div>
                    <div className="mt-0.5 text-[0.8125rem] text-ink-soft">
                      {bytes(mapper.bytes)},{" "}
                      {mapper.score ? `retention ${share(mapper.score.retention.value)}, ` : ""}
                      <TimeAgo at={mapper.createdAt} />
                    </div>
                  </div>
                  <MapperAction mapper={mapper} />
                </li>
              ))}
            </ul>
          )
        }
      </QueryView>
    </Card>
  );
}

function MapperAction({ mapper }: { mapper: Mapper }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const [asked, setAsked] = useState<"activate" | "retire" | null>(null);
  const blocked = useBlocked("admin");
  const onSettled = () => {
    setAsked(null);
    for (const queryKey of [trpc.mapper.pathKey(), trpc.pair.pathKey(), trpc.overview.pathKey()])
      void client.invalidateQueries({ queryKey });
  };
  const onError = (error: unknown) => tellProblem("The mapper was not changed", error);
  const onSuccess = ({ state, pairStatus }: { state: MapperState; pairStatus: string }) =>
    tellStored(`The mapper is ${state}`, `The pair is ${pairStatus}.`);
  const activate = useMutation(trpc.mapper.activate.mutationOptions({ onSuccess, onError, onSettled }));
  const retire = useMutation(trpc.mapper.retire.mutationOptions({ onSuccess, onError, onSettled }));
  if (mapper.state === "RETIRED") return null;
  const cleared = mapper.verdict === "CLEARED";
  const active = mapper.state === "ACTIVE";
  return (
    <span className="inline-flex gap-2">
      {active ? null : (
        <Button
          size="small"
          blockedBecause={
            blocked ?? (cleared ? null : "Only a mapper that cleared the gate can be activated.")
          }
          onClick={() => setAsked("activate")}
        >
          Activate
        </Button>
      )}
      <Button size="small" blockedBecause={blocked} onClick={() => setAsked("retire")}>
        Retire
      </Button>
      <ConfirmDialog
        open={asked !== null}
        onOpenChange={(open) => !open && setAsked(null)}
        title={asked === "activate" ? "Activate this mapper?" : "Retire this mapper?"}
        description={
          asked === "activate"
            ? "Nodes fetch it, and escalations of this pair are carried across by it. The one that is active now becomes INACTIVE."
            : active
              ? "The pair then has no active mapper: escalations of it are answered by the target reading the prompt itself."
              : "A retired mapper cannot be activated again."
        }
        confirm={asked === "activate" ? "Activate" : "Retire"}
        kind={asked === "retire" ? "danger" : "primary"}
        busy={activate.isPending || retire.isPending}
        onConfirm={() => (asked === "activate" ? activate : retire).mutate({ id: mapper.id })}
      />
    </span>
  );
}
