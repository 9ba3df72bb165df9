export * from "./admission-gate";
export * from "./fair-queue";
export * from "./ledger";
export * from "./refusal";
