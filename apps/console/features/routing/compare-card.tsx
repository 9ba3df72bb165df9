"use client";

import { useQuery } from "@tanstack/react-query";
import { ArrowLeftRight } from "lucide-react";
import { QueryView } from "../../api/query-view";
import { useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { TextField } from "../../ui/field";
import { Differences } from "./differences";
import { useCompared } from "./use-compared";

const read = (text: string) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : null);

/** Any two generations, or one beside what the settings say. */
export function CompareCard({ newest }: { newest: number }) {
  const { from, to, compare } = useCompared();
  const first = from ?? Math.max(1, newest - 1);
  const second = from === null && to === null ? newest : to;
  return (
    <div id="compare" className="scroll-mt-20">
      <Card
        title="Compare"
        hint="What two generations say differently. Leave the second empty to compare with the settings."
      >
        <div className="mb-3 flex flex-wrap items-end gap-3">
          <div className="w-32">
            <TextField
              label="Generation"
              inputMode="numeric"
              value={String(first)}
              onChange={(event) => compare(read(event.target.value) ?? 1, second)}
            />
          </div>
          <div className="w-32">
            <TextField
              label="against"
              inputMode="numeric"
              placeholder="settings"
              value={second === null ? "" : String(second)}
              onChange={(event) => compare(first, read(event.target.value))}
            />
          </div>
          <Button
            blockedBecause={second === null ? "The settings have no number to swap with." : null}
            onClick={() => compare(second, first)}
          >
            <ArrowLeftRight aria-hidden="true" className="size-4" />
            Swap
          </Button>
        </div>
        <Compared from={first} to={second} />
      </Card>
    </div>
  );
}

function Compared({ from, to }: { from: number; to: number | null }) {
  const trpc = useTRPC();
  const diff = useQuery(trpc.snapshot.diff.queryOptions({ from, to }, { placeholderData: (kept) => kept }));
  const other = to === null ? "Settings" : `Generation ${to}`;
  return (
    <QueryView query={diff} label="Comparing" rows={3}>
      {({ differences }) => (
        <Differences
          rows={differences}
          caption={`Generation ${from} against ${other}`}
          none="Both say the same."
          before={`Generation ${from}`}
          after={other}
        />
      )}
    </QueryView>
  );
}
