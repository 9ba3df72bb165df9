import { readFileSync } from "node:fs";
import { HELM_PAGE, Made, madeFile } from "./product";

export type KnownPage = { name: string; path: string; signedIn: boolean };

/** Every page of the console, with what the journey made on the pages about one thing. */
export function everyPage(): KnownPage[] {
  const made = Made.parse(JSON.parse(readFileSync(madeFile(), "utf8")));
  const inside = (name: string, path: string) => ({ name, path, signedIn: true });
  return [
    { name: "sign-in", path: "/sign-in", signedIn: false },
    { name: "setup", path: "/setup", signedIn: false },
    inside("helm", HELM_PAGE),
    inside("pairs", "/pairs"),
    inside("pair", `/pairs/${made.pairId}`),
    inside("calibrations", "/calibrations"),
    inside("calibration", `/calibrations/${made.calibrationId}`),
    inside("tenants", "/tenants"),
    inside("tenant", `/tenants/${made.tenantId}`),
    inside("nodes", "/nodes"),
    inside("audit", "/audit"),
    inside("nothing", "/no-such-page"),
    ...made.others.map(({ name, path }) => inside(name, path)),
  ];
}
