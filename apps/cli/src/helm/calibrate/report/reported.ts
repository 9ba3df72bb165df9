import type { Assessment, CalibrationScores, CostPoint, LayerFit } from "@helm/contracts";

/** Everything a calibration measured, whether it ran here or on a server. */
export interface Reported {
  pair: string;
  /** Method, k, corpus and device, as the run said them. */
  made: { method: string; k: number; corpus: string; device: string };
  assessment: Assessment;
  scores: CalibrationScores;
  cost: CostPoint[];
  fit: LayerFit[];
  /** `undefined` where the one who asks does not know it. */
  artifact: { sha256: string; path?: string | null; bytes?: number } | null;
  development: boolean;
}

export const three = (value: number) => value.toFixed(3);
export const interval = ({ low, high }: { low: number; high: number }) => `${three(low)} - ${three(high)}`;
export const signed = (value: number, places = 3) => `${value < 0 ? "" : "+"}${value.toFixed(places)}`;
