"use client";

import type { MapperState } from "@helm/contracts";
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
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
import { VerdictBadge } from "../calibrations/state-badge";
import { TimeAgo } from "../preferences/time";
import { useBlocked } from "../session/use-session";
import { consequence } from "./mapper-words";

type Mapper = Outputs["mapper"]["list"]["rows"][number];

const PAGE = 20;

const STATE: Record<MapperState, { tone: Tone; shape: Shape }> = {
  ACTIVE: { tone: "good", shape: "check" },
  INACTIVE: { tone: "plain", shape: "circle" },
  RETIRED: { tone: "plain", shape: "slash" },
};

export function MappersCard({ pairId }: { pairId: string }) {
  const trpc = useTRPC();
  const active = useQuery(trpc.pair.get.queryOptions({ id: pairId })).data?.active;
  const mappers = useInfiniteQuery(
    trpc.mapper.list.infiniteQueryOptions(
      { pairId, limit: PAGE },
      { getNextPageParam: (page) => page.nextCursor ?? undefined },
    ),
  );
  return (
    <Card
      title="Mappers"
      hint="One is active at most. The first that clears becomes active by itself; later ones by an admin."
    >
      <QueryView query={mappers} label="Loading mappers">
        {({ pages }) =>
          pages[0]?.rows.length === 0 ? (
            <p className="text-ink-soft">None written yet.</p>
          ) : (
            <>
              <ul className="divide-y divide-line">
                {pages
                  .flatMap(({ rows }) => rows)
                  .map((mapper) => (
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
                          <VerdictBadge verdict={mapper.verdict} />
                        </div>
                        <div className="mt-0.5 text-[0.8125rem] text-ink-soft">
                          {bytes(mapper.bytes)},{" "}
                          {mapper.score ? `retention ${share(mapper.score.retention.value)}, ` : ""}
                          written <TimeAgo at={mapper.createdAt} />
                          {mapper.activatedAt ? (
                            <>
                              , activated <TimeAgo at={mapper.activatedAt} />
                            </>
                          ) : null}
                          {mapper.retiredAt ? (
                            <>
                              , retired <TimeAgo at={mapper.retiredAt} />
                            </>
                          ) : null}
                        </div>
                      </div>
                      <MapperAction mapper={mapper} active={active ? { score: active } : null} />
                    </li>
                  ))}
              </ul>
              {mappers.hasNextPage ? (
                <Button
                  size="small"
                  busy={mappers.isFetchingNextPage}
                  onClick={() => void mappers.fetchNextPage()}
                >
                  Older mappers
                </Button>
              ) : null}
            </>
          )
        }
      </QueryView>
    </Card>
  );
}

function MapperAction({ mapper, active }: { mapper: Mapper; active: Pick<Mapper, "score"> | null }) {
  const trpc = useTRPC();
  const { data: overview } = useQuery(trpc.overview.helm.queryOptions());
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
  return (
    <span className="inline-flex gap-2">
      {mapper.state === "ACTIVE" ? null : (
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
        description={consequence(asked ?? "activate", mapper, active, overview ?? null)}
        confirm={asked === "activate" ? "Activate" : "Retire"}
        kind={asked === "retire" ? "danger" : "primary"}
        busy={activate.isPending || retire.isPending}
        onConfirm={() =>
          (asked === "activate" ? activate : retire).mutate({
            id: mapper.id,
            revision: mapper.revision,
          })
        }
      />
    </span>
  );
}
