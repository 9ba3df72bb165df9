// Bundles one program with our own workspace packages; everything from the registry stays outside.
// Usage: build-app.mjs [FOLDER]   (the current folder by default); writes dist/.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const folder = resolve(process.argv[2] ?? ".");
const entries = { main: "src/main.ts", supervisor: "src/embedded/supervisor.ts" };
const entryPoints = Object.fromEntries(
  Object.entries(entries)
    .map(([name, file]) => [name, join(folder, file)])
    .filter(([, file]) => existsSync(file)),
);
if (Object.keys(entryPoints).length === 0) throw new Error(`${folder} has no src/main.ts`);

const registryPackages = {
  name: "registry-packages",
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, (found) =>
      found.kind === "entry-point" || found.path.startsWith("@helm/")
        ? undefined
        : { path: found.path, external: true },
    );
  },
};

await build({
  entryPoints,
  outdir: join(folder, "dist"),
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: true,
  logLevel: "warning",
  plugins: [registryPackages],
});
