import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { appRouter } from "../router";

const CONSOLE = fileURLToPath(new URL("../../../console", import.meta.url));

/** Queries of the router that the console's source names, by path. */
export function consoleQueries(): string[] {
  const procedures = appRouter._def.procedures as unknown as Record<string, { _def: { type: string } }>;
  const queries = Object.keys(procedures).filter((path) => procedures[path]?._def.type === "query");
  const sources = ["api", "app", "features"].flatMap((folder) => read(join(CONSOLE, folder)));
  return queries.filter((path) => {
    const call = new RegExp(`\\.${path.replace(".", "\\s*\\.\\s*")}\\s*\\.\\s*(query|infiniteQuery)`);
    return sources.some((text) => call.test(text));
  });
}

function read(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.test\.tsx?$/.test(entry.name))
    .filter((entry) => !/node_modules|\.next/.test(entry.parentPath))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
}
