import { readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./command.mjs";
import { ROOT } from "./paths.mjs";
import { digestOf, once } from "./stamp.mjs";

const BUNDLES = [
  { name: "@helm/db", folder: "packages/db" },
  { name: "@helm/control-plane", folder: "apps/control-plane" },
  { name: "@helm/worker", folder: "apps/worker" },
  { name: "@helm/node", folder: "apps/node" },
  { name: "lifeboat", folder: "apps/cli" },
];

const at = (...parts) => join(ROOT, ...parts);

export async function ensurePrismaClient() {
  await once({
    title: "Writing the database client",
    stamp: at("packages/db/src/generated/.helm-generated"),
    digest: () =>
      digestOf([
        at("prisma/schema.prisma"),
        at("packages/db/scripts"),
        at("node_modules/prisma/package.json"),
      ]),
    work: () =>
      run(process.execPath, [at("packages/db/scripts/generate-client.mjs")], { log: "db-generate" }),
  });
}

/** Bundles every program whose own files or workspace packages changed. */
export async function ensureBundles() {
  for (const bundle of BUNDLES) {
    const sources = ["src", "package.json"].map((part) => at(bundle.folder, part));
    await once({
      title: `Bundling ${bundle.name}`,
      stamp: at(bundle.folder, "dist/.helm-built"),
      digest: () => digestOf([...sources, ...workspaceSources(bundle.folder), at("scripts/build-app.mjs")]),
      work: () =>
        run(process.execPath, [at("scripts/build-app.mjs"), bundle.folder], {
          log: `bundle-${bundle.folder.replace("/", "-")}`,
        }),
    });
  }
}

export async function ensureConsole() {
  const folder = at("apps/console");
  await once({
    title: "Building the console",
    stamp: join(folder, ".next/.helm-built"),
    digest: () => digestOf([folder, ...workspaceSources("apps/console"), at("package-lock.json")]),
    work: () =>
      run(process.execPath, [at("node_modules/next/dist/bin/next"), "build"], {
        log: "console-build",
        cwd: folder,
        env: { NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" },
      }),
  });
}

// Every package it may import, directly or through another one; too many is safe, too few is not.
function workspaceSources(folder) {
  const seen = new Set();
  const visit = (name) => {
    const short = name.replace("@helm/", "");
    const where = ["packages", "apps"].map((parent) => at(parent, short)).find((path) => exists(path));
    if (!where || seen.has(where)) return;
    seen.add(where);
    for (const next of helmDependencies(where)) visit(next);
  };
  for (const name of helmDependencies(at(folder))) visit(name);
  return [...seen].map((path) => join(path, "src"));
}

function exists(path) {
  try {
    readFileSync(join(path, "package.json"));
    return true;
  } catch {
    return false;
  }
}

function helmDependencies(path) {
  const manifest = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
  return Object.keys(manifest.dependencies ?? {}).filter((name) => name.startsWith("@helm/"));
}
