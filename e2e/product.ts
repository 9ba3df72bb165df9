import { join } from "node:path";
import { z } from "zod";

const Running = z.object({
  urls: z.object({ console: z.url(), controlPlane: z.url(), gateway: z.url() }),
  setupToken: z.string(),
  stateDir: z.string(),
});
export type Running = z.infer<typeof Running>;

const VARIABLE = "HELM_E2E_RUNNING";

/** Test processes are started after the product and inherit where it is. */
export function remember(running: unknown): void {
  process.env[VARIABLE] = JSON.stringify(Running.parse(running));
}

export function forget(): void {
  delete process.env[VARIABLE];
}

export function running(): Running {
  return Running.parse(JSON.parse(process.env[VARIABLE] ?? "null"));
}

export const ADMINISTRATOR = {
  name: "Ada Admin",
  email: "ada@example.org",
  password: "correct horse battery staple",
};
/** Made through the console by the administrator; each chooses the password behind the link. */
export const OPERATOR = {
  name: "Otto Operator",
  email: "otto@example.org",
  password: "an operator's long password",
};
export const VIEWER = {
  name: "Vera Viewer",
  email: "vera@example.org",
  password: "a viewer's quite long password",
};
export const HELM_PAGE = "/settings/performance-routing/helm";

/** What the journey leaves for the tests after it. */
export const sessionFile = (role: "admin" | "operator" | "viewer" = "admin") =>
  join(running().stateDir, `session-${role}.json`);
export const madeFile = () => join(running().stateDir, "made.json");
export const Made = z.object({
  calibrationId: z.string(),
  pairId: z.string(),
  tenantId: z.string(),
  ladderId: z.string(),
  nodeId: z.string(),
  traceId: z.string(),
  /** Further pages that are worth a picture. */
  others: z.array(z.object({ name: z.string(), path: z.string() })).default([]),
});
export type Made = z.infer<typeof Made>;
