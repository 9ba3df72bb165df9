import type { HelmError } from "@helm/contracts";
import pg from "pg";
import type { Services } from "../context";
import { databaseTrouble, storageTrouble } from "../trpc/storage-trouble";

const PATIENCE_MS = 3_000;

type Asked = Pick<Services, "db" | "config">;

/** Errors: DATABASE_DOWN, DATABASE_BUSY or STORAGE_FULL; nothing where the database answers. */
export async function requireDatabase({ db, config }: Asked): Promise<void> {
  const trouble = await askPool(db);
  if (!trouble) return;
  if (trouble.code === "STORAGE_FULL") throw trouble;
  throw (await answersOutsidePool(config.databaseUrl)) ? databaseTrouble("DATABASE_BUSY", trouble) : trouble;
}

async function askPool(db: Asked["db"]): Promise<HelmError | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<HelmError>((resolve) => {
    timer = setTimeout(() => resolve(databaseTrouble("DATABASE_DOWN")), PATIENCE_MS);
  });
  const asked = db.$queryRaw`SELECT 1`.then(
    () => null,
    (error: unknown) => storageTrouble(error) ?? databaseTrouble("DATABASE_DOWN", error),
  );
  return Promise.race([asked, late]).finally(() => clearTimeout(timer));
}

let asking: Promise<boolean> | null = null;

/** A pool whose connections are all at work looks like a database that stands still: a connection of its own tells. */
function answersOutsidePool(databaseUrl: string): Promise<boolean> {
  asking ??= ask(databaseUrl).finally(() => {
    asking = null;
  });
  return asking;
}

async function ask(databaseUrl: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: PATIENCE_MS,
    query_timeout: PATIENCE_MS,
  });
  // What happens to it between two questions must not end the process.
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("SELECT 1");
    return true;
  } catch (error) {
    return storageTrouble(error)?.code === "DATABASE_BUSY";
  } finally {
    client.end().catch(() => {});
  }
}
