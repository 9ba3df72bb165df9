export * from "./check-pair";
export { FAMILIES } from "./families";
export * from "./hardware";
export * from "./score/assess";
