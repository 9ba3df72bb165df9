export * from "./admission-gate";
export * from "./clock";
export * from "./ledger";
export * from "./refusal";
