import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migrate } from "./migrate";
import { describeDatabase } from "./testing/describe-database";
import { dropDatabase, emptyDatabase, MIGRATIONS } from "./testing/index";
import { sqlOfSchema } from "./testing/schema-sql";

const SCHEMA = fileURLToPath(new URL("../../../prisma/schema.prisma", import.meta.url));

// What Prisma's schema language cannot say and only the SQL holds.
const onlyInSql = (fact: string) => /^constraint .*: CHECK /.test(fact) || /^index .* WHERE /.test(fact);

describe("the migrations give the schema", () => {
  let bySchema: string;
  let byMigrations: string;

  beforeAll(async () => {
    bySchema = await emptyDatabase();
    byMigrations = await emptyDatabase();
    const client = new pg.Client({ connectionString: bySchema });
    await client.connect();
    await client.query(await sqlOfSchema(SCHEMA, bySchema));
    await client.end();
    await migrate(byMigrations, MIGRATIONS);
  });

  afterAll(async () => {
    await dropDatabase(bySchema);
    await dropDatabase(byMigrations);
  });

  it("has every column, enum, key and index, and nothing beside them but checks and partial indexes", async () => {
    const wanted = await describeDatabase(bySchema);
    const made = await describeDatabase(byMigrations);
    expect(wanted.length).toBeGreaterThan(50);
    expect(wanted.filter((fact) => !made.includes(fact))).toEqual([]);
    expect(made.filter((fact) => !wanted.includes(fact) && !onlyInSql(fact))).toEqual([]);
  });
});
