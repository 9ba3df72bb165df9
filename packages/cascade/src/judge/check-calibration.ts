import { wilson } from "./wilson";

/** A kept request that the target answered too, by chance. */
export interface SharedRequest {
  /** What the judge said, and what came true. */
  probability: number;
  label: boolean;
  /** With which probability it was drawn. */
  propensity: number;
}

export interface CalibrationCheck {
  requests: number;
  predicted: number;
  observed: { value: number; low: number; high: number };
}

/**
 * What the judge said of the requests that were kept, beside what came true of those drawn: each stands for as many as its
 * propensity says. The interval is Wilson's on Kish's effective number. Null without any.
 */
export function checkCalibration(drawn: readonly SharedRequest[]): CalibrationCheck | null {
  if (drawn.length === 0) return null;
  let weight = 0;
  let squares = 0;
  let said = 0;
  let came = 0;
  for (const { probability, label, propensity } of drawn) {
    const stands = 1 / propensity;
    weight += stands;
    squares += stands * stands;
    said += stands * probability;
    came += label ? stands : 0;
  }
  const value = came / weight;
  return {
    requests: drawn.length,
    predicted: said / weight,
    observed: { value, ...wilson(value, (weight * weight) / squares) },
  };
}
