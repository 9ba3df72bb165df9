import type { Role } from "@helm/contracts";

export const ROLES: Role[] = ["viewer", "operator", "admin"];

/** "an operator" */
export function roleWith(role: Role): string {
  return role === "viewer" ? "a viewer" : role === "operator" ? "an operator" : "an administrator";
}

/** What each role may beside what the one before it may, in words; the server decides for itself. */
export const MAY: Record<Role, string> = {
  viewer:
    "Reads every page: traffic, pairs and scores, calibrations, nodes and workers, tenants, snapshots, the audit. Changes the own password, sessions and personal tokens.",
  operator:
    "Also starts, cancels and retries calibrations, records evaluations and ladders, and drains nodes and workers; fits, imports and removes judge tables; asks in the playground; reads prompts and answers where a tenant keeps them.",
  admin:
    "Also Helm's switch, the kill switch and the gate; registering pairs, activating and retiring mappers, placement, routes and rollback; tenants and their API keys; people, roles and everyone's personal tokens; letting hosts join and revoking them.",
};
