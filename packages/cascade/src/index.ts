export * from "./effective";
export * from "./evidence";
export * from "./hold-back";
export * from "./judge";
export * from "./plan-request";
export * from "./plan-transfer";
export * from "./reasons";
