import { HelmError } from "@helm/contracts";
import type { Db } from "@helm/db";
import { toHelmError } from "../trpc/errors";

const PATIENCE_MS = 3_000;

/** Errors: DATABASE_DOWN or STORAGE_FULL; nothing where the database answers. */
export async function requireDatabase(db: Db): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new HelmError("DATABASE_DOWN", "The database does not answer.")),
      PATIENCE_MS,
    );
  });
  try {
    await Promise.race([db.$queryRaw`SELECT 1`, late]);
  } catch (error) {
    throw toHelmError(error);
  } finally {
    clearTimeout(timer);
  }
}
