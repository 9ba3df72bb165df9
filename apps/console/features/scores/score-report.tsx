"use client";

import type { Assessment, CalibrationScores, CostPoint } from "@helm/contracts";
import { ApartCard } from "./apart-card";
import { CostCard } from "./cost-card";
import { HeatCard } from "./heat-card";
import { LadderCard } from "./ladder-card";
import { TogetherCard } from "./together-card";

type Run = { method: string; k: number; device: string; mapperSha256: string | null };

/** One run's score: first the picture that carries the verdict, then what it is made of. */
export function ScoreReport({
  run,
  assessment,
  scores,
  cost,
  mapperBytes,
}: {
  run: Run;
  assessment: Assessment;
  scores: CalibrationScores;
  cost: CostPoint[];
  mapperBytes?: number;
}) {
  return (
    <>
      <div className="grid gap-4 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <LadderCard assessment={assessment} />
        <TogetherCard
          assessment={assessment}
          scores={scores}
          method={run.method}
          k={run.k}
          mapper={run.mapperSha256 ? { sha256: run.mapperSha256, bytes: mapperBytes } : null}
        />
      </div>
      <div className="grid gap-4 lg:grid-cols-2">
        <HeatCard scores={scores} />
        <CostCard cost={cost} device={run.device} />
      </div>
      <ApartCard assessment={assessment} />
    </>
  );
}
