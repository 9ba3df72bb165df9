export * from "./admission";
export * from "./admission-gate";
export * from "./clock";
export * from "./ledger";
export type { Pull, PullLimits } from "./pull-window";
export * from "./refusal";
export * from "./telemetry";
