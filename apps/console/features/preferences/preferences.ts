import { z } from "zod";

export const Theme = z.enum(["light", "dark", "system"]);
export type Theme = z.infer<typeof Theme>;
export const Zone = z.enum(["utc", "local"]);
export type Zone = z.infer<typeof Zone>;

export const THEME_COOKIE = "helm-theme";
export const ZONE_COOKIE = "helm-zone";

/** Cookies, so that the server already draws the first frame in the chosen theme. */
export function readPreferences(cookie: (name: string) => string | undefined): { theme: Theme; zone: Zone } {
  return {
    theme: Theme.catch("system").parse(cookie(THEME_COOKIE)),
    zone: Zone.catch("utc").parse(cookie(ZONE_COOKIE)),
  };
}
