import { parseAsString, useQueryStates } from "nuqs";

/** In the address, so that a link to it shows the same rows. */
export function useAuditFilters() {
  return useQueryStates(
    { entity: parseAsString.withDefault(""), verb: parseAsString.withDefault("") },
    { history: "push" },
  );
}

export const ENTITIES = [
  "setting",
  "route",
  "pair",
  "registration",
  "inspection",
  "calibration",
  "mapper",
  "tenant",
  "key",
  "worker",
  "node",
  "join_token",
  "snapshot",
  "user",
];

export const VERBS = [
  "setup.createAdministrator",
  "route.create",
  "setting.setHelmEnabled",
  "setting.setKillSwitch",
  "route.update",
  "pair.register",
  "pair.registered",
  "pair.refused",
  "calibration.start",
  "calibration.cancel",
  "calibration.retry",
  "mapper.activate",
  "mapper.retire",
  "tenant.create",
  "tenant.setEnabled",
  "key.create",
  "key.revoke",
  "host.createJoinToken",
  "host.join",
  "host.revoke",
];
