import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MigrationError, migrate } from "./migrate";
import { dropDatabase, emptyDatabase } from "./testing/index";

describe("migrate", () => {
  let directory: string;
  let url: string;

  const write = async (name: string, sql: string) => {
    await mkdir(join(directory, name), { recursive: true });
    await writeFile(join(directory, name, "migration.sql"), sql);
  };
  const query = async (sql: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "helm-migrations-"));
    url = await emptyDatabase();
    await write("1_first", "CREATE TABLE a (id INT PRIMARY KEY); CREATE TABLE b (id INT);");
  });

  afterEach(async () => {
    await dropDatabase(url);
    await rm(directory, { recursive: true, force: true });
  });

  it("applies what is new in order and does nothing the second time", async () => {
    await write("2_second", "ALTER TABLE a ADD COLUMN name TEXT;");
    expect(await migrate(url, directory)).toEqual(["1_first", "2_second"]);
    expect(await migrate(url, directory)).toEqual([]);
    await write("3_third", "INSERT INTO a VALUES (1, 'x');");
    expect(await migrate(url, directory)).toEqual(["3_third"]);
    expect(
      await query("SELECT count(*)::int AS n FROM _prisma_migrations WHERE finished_at IS NOT NULL"),
    ).toEqual([{ n: 3 }]);
  });

  it("lets one of several that start together do the work", async () => {
    const results = await Promise.all([1, 2, 3].map(() => migrate(url, directory)));
    expect(results.flat()).toEqual(["1_first"]);
  });

  it("takes a failed file back whole and keeps those before it", async () => {
    await write("2_bad", "CREATE TABLE c (id INT); SELECT 1/0;");
    await expect(migrate(url, directory)).rejects.toThrow(
      /2_bad failed and was taken back: division by zero/,
    );
    expect(await query("SELECT to_regclass('c') AS c, to_regclass('a')::text AS a")).toEqual([
      { c: null, a: "a" },
    ]);
    await write("2_bad", "CREATE TABLE c (id INT);");
    expect(await migrate(url, directory)).toEqual(["2_bad"]);
  });

  it("refuses a file that was changed after it had been applied", async () => {
    await migrate(url, directory);
    await write("1_first", "CREATE TABLE other (id INT);");
    await expect(migrate(url, directory)).rejects.toThrow(MigrationError);
  });

  it("refuses a database that a newer version has used", async () => {
    await write("2_second", "SELECT 1;");
    await migrate(url, directory);
    await rm(join(directory, "2_second"), { recursive: true });
    await expect(migrate(url, directory)).rejects.toThrow(/does not know/);
  });

  it("refuses a new file that sorts before an applied one", async () => {
    await migrate(url, directory);
    await write("0_late", "SELECT 1;");
    await expect(migrate(url, directory)).rejects.toThrow(/sorts before/);
  });
});
