// Writes the Prisma client to src/generated. Prisma downloads an engine for its command line at first use, which
// fails where only registries are reachable; the client needs none, and any executable named in its place will do.
// With that stand-in `db push` and `migrate diff` print success and do nothing, so only `generate` passes here.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../../..");
const [command = "generate", ...rest] = process.argv.slice(2);

if (command !== "generate" && command !== "validate" && command !== "format") {
  console.error(
    `"prisma ${[command, ...rest].join(" ")}" is refused: without Prisma's own engine it prints success and does nothing. ` +
      "Change prisma/schema.prisma, write prisma/migrations/<name>/migration.sql by hand; a test compares the two.",
  );
  process.exit(2);
}

const require = createRequire(import.meta.url);
const prisma = join(dirname(require.resolve("prisma/package.json")), "build", "index.js");
const schema = join(root, "prisma", "schema.prisma");
const result = spawnSync(process.execPath, [prisma, command, `--schema=${schema}`, ...rest], {
  cwd: root,
  stdio: ["ignore", "inherit", "inherit"],
  env: {
    ...process.env,
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: "1",
    CHECKPOINT_DISABLE: "1",
  },
});
process.exit(result.status ?? 1);
