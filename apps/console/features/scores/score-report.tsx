"use client";

import type { Assessment, CalibrationScores, ModelFacts } from "@helm/contracts";
import type { Outputs } from "../../api/trpc";
import { ApartCard } from "./apart-card";
import { CostCard } from "./cost-card";
import { FitCard } from "./fit-card";
import { GlanceCard } from "./glance-card";
import { HeatCard } from "./heat-card";
import { LadderCard } from "./ladder-card";
import { publishedFor } from "./published";
import { TogetherCard } from "./together-card";

/** One run's score: the answers, the picture that carries the verdict, then what it is made of. */
export function ScoreReport({
  run,
  assessment,
  scores,
  models,
  mapperBytes,
}: {
  run: Outputs["calibration"]["get"];
  assessment: Assessment;
  scores: CalibrationScores;
  models?: { source: ModelFacts; target: ModelFacts };
  mapperBytes?: number;
}) {
  const published = models ? publishedFor(models.source, models.target) : null;
  const cost = run.cost ?? [];
  return (
    <>
      <GlanceCard {...run} assessment={assessment} cost={cost} />
      <div className="grid gap-4 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <LadderCard assessment={assessment} published={published} />
        <TogetherCard
          assessment={assessment}
          scores={scores}
          method={run.method}
          k={run.k}
          mapper={run.mapperSha256 ? { sha256: run.mapperSha256, bytes: mapperBytes } : null}
        />
      </div>
      <ApartCard assessment={assessment} />
      <div className="grid gap-4 lg:grid-cols-2">
        <HeatCard scores={scores} />
        {run.fit.length > 0 ? <FitCard fit={run.fit} /> : null}
      </div>
      <CostCard cost={cost} breakEven={run.breakEven} device={run.device} published={published} />
    </>
  );
}
