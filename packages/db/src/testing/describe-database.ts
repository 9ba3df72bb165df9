import pg from "pg";

/** Everything a migration can make, one fact a line, sorted; enough to compare two databases. */
export async function describeDatabase(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const facts: string[] = [];
    for (const query of [COLUMNS, ENUMS, CONSTRAINTS, INDEXES]) {
      const { rows } = await client.query<{ fact: string }>(query);
      facts.push(...rows.map((row) => row.fact));
    }
    return facts.filter((fact) => !fact.includes("_prisma_migrations")).sort();
  } finally {
    await client.end();
  }
}

const COLUMNS = `
  SELECT format('column %I.%I %s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
    CASE WHEN a.attnotnull THEN ' not null' ELSE '' END,
    coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')) AS fact
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped`;

const ENUMS = `
  SELECT format('enum %I: %s', t.typname, string_agg(e.enumlabel, ', ' ORDER BY e.enumsortorder)) AS fact
  FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid GROUP BY t.typname`;

// PostgreSQL 18 lists NOT NULL as constraints too; the columns say that already.
const CONSTRAINTS = `
  SELECT format('constraint %I on %s: %s', conname, conrelid::regclass, pg_get_constraintdef(oid)) AS fact
  FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'`;

const INDEXES = `
  SELECT format('index %s', indexdef) AS fact FROM pg_indexes WHERE schemaname = 'public'`;
