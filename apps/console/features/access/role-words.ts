import type { Role } from "@helm/contracts";

export const ROLES: Role[] = ["viewer", "operator", "admin"];

/** "an operator" */
export function roleWith(role: Role): string {
  return role === "viewer" ? "a viewer" : role === "operator" ? "an operator" : "an administrator";
}

/** What each role may, in words; the server decides for itself. */
export const MAY: { what: string; from: Role }[] = [
  { what: "Read every page: pairs, scores, calibrations, nodes, tenants, audit", from: "viewer" },
  { what: "Change their own password, sessions and personal tokens", from: "viewer" },
  { what: "Start, cancel and retry calibrations; record evaluations", from: "operator" },
  { what: "Drain nodes and workers", from: "operator" },
  { what: "Switch Helm on and off, the kill switch, the gate", from: "admin" },
  { what: "Register pairs, activate and retire mappers, placement and routes", from: "admin" },
  { what: "Tenants, their API keys and what holds for each", from: "admin" },
  { what: "People and roles, everyone's tokens, joining and revoking hosts", from: "admin" },
];
