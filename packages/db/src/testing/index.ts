import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { createDb, type Db } from "../client";
import { migrate } from "../migrate";

export const MIGRATIONS = fileURLToPath(new URL("../../../../prisma/migrations", import.meta.url));
const TEMPLATE = "helm_template";
const TEMPLATE_LOCK = 7_210_116_002;

export interface TestDatabase {
  url: string;
  db: Db;
  drop(): Promise<void>;
}

/** A database of its own with every migration applied. Call `drop()` when done. */
export async function testDatabase(): Promise<TestDatabase> {
  const url = await emptyDatabase(await ensureTemplate());
  const db = createDb(url, { poolSize: 5 });
  return {
    url,
    db,
    drop: async () => {
      await db.$disconnect();
      await dropDatabase(url);
    },
  };
}

/** A new database without tables, or a copy of `template`. */
export async function emptyDatabase(template?: string): Promise<string> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  await onServer((client) =>
    client.query(`CREATE DATABASE ${name}${template ? ` TEMPLATE ${template}` : ""}`),
  );
  return urlOf(name);
}

export async function dropDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await onServer((client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
}

// Copying a migrated database takes milliseconds; test files in parallel must not build it twice.
async function ensureTemplate(): Promise<string> {
  return onServer(async (client) => {
    await client.query("SELECT pg_advisory_lock($1)", [TEMPLATE_LOCK]);
    const { rowCount } = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [TEMPLATE]);
    if (!rowCount) {
      const unfinished = `${TEMPLATE}_new`;
      await client.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`);
      await client.query(`CREATE DATABASE ${unfinished}`);
      await migrate(urlOf(unfinished), MIGRATIONS);
      await client.query(`ALTER DATABASE ${unfinished} RENAME TO ${TEMPLATE}`);
    }
    return TEMPLATE;
  });
}

function serverUrl(): string {
  const url = process.env.HELM_TEST_DATABASE_URL;
  if (url) return url;
  throw new Error(
    "No test server: run vitest from the repository's root, whose configuration starts one for this project.",
  );
}

function urlOf(database: string): string {
  const url = new URL(serverUrl());
  url.pathname = `/${database}`;
  return url.href;
}

async function onServer<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
