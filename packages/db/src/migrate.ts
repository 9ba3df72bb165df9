import { createHash, randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";

/** Any constant will do; it only has to be the same in every control plane. */
const LOCK = 7_210_116_001;

// Prisma's own layout, so that its command line can read the history where its engine can be had.
const HISTORY = `
  CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
    "id" VARCHAR(36) PRIMARY KEY NOT NULL,
    "checksum" VARCHAR(64) NOT NULL,
    "finished_at" TIMESTAMPTZ,
    "migration_name" VARCHAR(255) NOT NULL,
    "logs" TEXT,
    "rolled_back_at" TIMESTAMPTZ,
    "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
    "applied_steps_count" INTEGER NOT NULL DEFAULT 0
  )`;

export interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

export class MigrationError extends Error {
  override name = "MigrationError";
}

/** Reads `<directory>/<name>/migration.sql` in order of name. */
export async function readMigrations(directory: string): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(join(directory, name, "migration.sql"), "utf8");
      return { name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
    }),
  );
}

/** Applies what is new, each file in a transaction of its own; gives the names it applied. */
export async function migrate(databaseUrl: string, directory: string): Promise<string[]> {
  const migrations = await readMigrations(directory);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    // Held by the session: two control planes that start together do not apply a file twice.
    await client.query("SELECT pg_advisory_lock($1)", [LOCK]);
    await client.query(HISTORY);
    const applied = await readHistory(client);
    checkHistory(migrations, applied);
    const fresh = migrations.filter((migration) => !applied.has(migration.name));
    for (const migration of fresh) await apply(client, migration);
    return fresh.map((migration) => migration.name);
  } finally {
    await client.end();
  }
}

async function readHistory(client: pg.Client): Promise<Map<string, string>> {
  const { rows } = await client.query<{ migration_name: string; checksum: string }>(
    `SELECT migration_name, checksum FROM "_prisma_migrations" WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`,
  );
  return new Map(rows.map((row) => [row.migration_name, row.checksum]));
}

function checkHistory(migrations: Migration[], applied: Map<string, string>): void {
  const known = new Map(migrations.map((migration) => [migration.name, migration.checksum]));
  for (const [name, checksum] of applied) {
    const present = known.get(name);
    if (present === undefined) {
      throw new MigrationError(
        `The database has migration ${name}, which this version does not know: it was used by a newer one.`,
      );
    }
    if (present !== checksum) {
      throw new MigrationError(
        `Migration ${name} was changed after it had been applied; add a new one instead.`,
      );
    }
  }
  const last = [...applied.keys()].sort().at(-1);
  const late = migrations.find(
    (migration) => !applied.has(migration.name) && last !== undefined && migration.name < last,
  );
  if (late)
    throw new MigrationError(
      `Migration ${late.name} sorts before ${last}, which is applied already; rename it.`,
    );
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  await client.query("BEGIN");
  try {
    await client.query(migration.sql);
    await client.query(
      `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, finished_at, applied_steps_count) VALUES ($1, $2, $3, clock_timestamp(), 1)`,
      [randomUUID(), migration.checksum, migration.name],
    );
    await client.query("COMMIT");
  } catch (cause) {
    await client.query("ROLLBACK");
    throw new MigrationError(
      `Migration ${migration.name} failed and was taken back: ${(cause as Error).message}`,
      { cause },
    );
  }
}
