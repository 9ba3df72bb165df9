import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { HELM_PAGE, Made, madeFile } from "./product";

export type KnownPage = { name: string; path: string; signedIn: boolean };

const APP = fileURLToPath(new URL("../apps/console/app", import.meta.url));

/** Every page of the console, with what the journey made on the pages about one thing. */
export function everyPage(): KnownPage[] {
  const made = Made.parse(JSON.parse(readFileSync(madeFile(), "utf8")));
  const inside = (name: string, path: string) => ({ name, path, signedIn: true });
  return [
    { name: "sign-in", path: "/sign-in", signedIn: false },
    { name: "setup", path: "/setup", signedIn: false },
    { name: "welcome", path: "/welcome#not-a-token-of-anybody", signedIn: false },
    inside("helm", HELM_PAGE),
    inside("pairs", "/pairs"),
    inside("pair", `/pairs/${made.pairId}`),
    inside("calibrations", "/calibrations"),
    inside("calibration", `/calibrations/${made.calibrationId}`),
    inside("tenants", "/tenants"),
    inside("tenant", `/tenants/${made.tenantId}`),
    inside("nodes", "/nodes"),
    inside("node", `/nodes/${made.nodeId}`),
    inside("routing", "/routing"),
    inside("ladders", "/ladders"),
    inside("ladder", `/ladders/${made.ladderId}`),
    inside("traffic", "/traffic"),
    inside("trace", `/traffic/${made.traceId}`),
    inside("playground", "/playground"),
    inside("access", "/access"),
    inside("account", "/account"),
    inside("audit", "/audit"),
    inside("nothing", "/no-such-page"),
    ...made.others.map(({ name, path }) => inside(name, path)),
  ];
}

/** Every route that the console's folder has, as a pattern: /pairs/[id]. The root only leads on. */
export function everyRoute(): string[] {
  return readdirSync(APP, { recursive: true, encoding: "utf8" })
    .filter((file) => /(^|\/)page\.tsx$/.test(file))
    .map((file) => `/${file.replace(/\/?page\.tsx$/, "")}`.replaceAll(/\/\([^)]+\)/g, "") || "/")
    .filter((route) => route !== "/");
}

/** The routes that no page of the list leads to. */
export function unseenRoutes(pages: KnownPage[]): string[] {
  return everyRoute().filter((route) => {
    const pattern = route.replaceAll(/\[\.\.\.[^\]]+\]/g, ".+").replaceAll(/\[[^\]]+\]/g, "[^/]+");
    return !pages.some(({ path }) => new RegExp(`^${pattern}$`).test(path.replace(/[?#].*$/, "")));
  });
}
