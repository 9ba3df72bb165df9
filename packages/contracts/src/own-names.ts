import { z } from "zod";

/** How the names that people give here are written; each rule in words, to be said before somebody breaks it. */
export const TENANT_NAME_RULE = "Lower-case letters, digits and dashes, at most 63.";
export const TenantName = z
  .string()
  .trim()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, TENANT_NAME_RULE);

/** As clients send it: no slash, so that it can never be mistaken for a hub's model. */
export const ROUTE_NAME_RULE = "Lower-case letters, digits, dots, dashes and underscores, at most 63.";
export const RouteName = z
  .string()
  .trim()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, ROUTE_NAME_RULE);

/** What would do in place of a name that does not: "Acme Ltd." -> "acme-ltd"; null where nothing is left. */
export function nearestName(given: string): string | null {
  const name = given
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}/gu, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, 63)
    .replace(/-+$/, "");
  return name || null;
}
