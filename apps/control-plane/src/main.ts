import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { migrate } from "@helm/db";
import { startControlPlane } from "./boot";
import { ConfigError, readConfig, redactConfig } from "./config";
import { createLog } from "./logging";

async function main(): Promise<void> {
  const config = readConfig({
    ...process.env,
    HELM_MIGRATIONS_DIR: process.env.HELM_MIGRATIONS_DIR ?? findMigrations(),
  });
  const log = createLog(config.logLevel);
  log.info({ config: redactConfig(config) }, "starting");
  const applied = await migrate(config.databaseUrl, config.migrationsDir);
  if (applied.length > 0) log.info({ applied }, "migrations applied");
  const controlPlane = await startControlPlane(config, log);
  log.info({ url: controlPlane.url }, "listening");
  if (controlPlane.setupTokenIsNew) process.stdout.write(`Setup token: ${controlPlane.setupToken}\n`);

  let stopping = false;
  const stop = (why: string): void => {
    if (stopping) return;
    stopping = true;
    log.info({ why }, "stopping");
    const late = setTimeout(() => process.exit(0), 8_000);
    late.unref();
    controlPlane.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.warn({ err: error }, "stopped with trouble");
        process.exit(0);
      },
    );
  };
  process.on("SIGTERM", () => stop("SIGTERM"));
  process.on("SIGINT", () => stop("SIGINT"));
  const { parentPid } = config;
  if (parentPid !== undefined) {
    setInterval(() => {
      if (process.ppid !== parentPid) stop("parent gone");
    }, 1_000).unref();
  }
}

/** From the source or from the bundle: the nearest folder above that holds the migrations. */
function findMigrations(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "prisma", "migrations"))) {
    const parent = dirname(folder);
    if (parent === folder) return resolve("prisma/migrations");
    folder = parent;
  }
  return join(folder, "prisma", "migrations");
}

main().catch((error: unknown) => {
  const known = error instanceof ConfigError || (error instanceof Error && error.name === "MigrationError");
  process.stderr.write(
    `${known ? (error as Error).message : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exit(1);
});
