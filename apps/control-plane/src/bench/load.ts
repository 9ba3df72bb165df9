import pg from "pg";
import { judgeTable } from "../testing/judge";
import { type TrafficScale, trafficStatements } from "./load-traffic";

export interface Scale extends TrafficScale {
  calibrations: number;
  pairs: number;
  /** Score rows of one calibration. */
  countsEach: number;
  eventsEach: number;
  audit: number;
}

export const FULL: Scale = {
  calibrations: 10_000,
  pairs: 400,
  countsEach: 100,
  eventsEach: 40,
  audit: 200_000,
  minutes: 30_000,
  hours: 150_000,
  traces: 60_000,
};

/** Enough that a plan without an index is the slower one, little enough for a test. */
export const SMALL: Scale = {
  calibrations: 1_000,
  pairs: 50,
  countsEach: 30,
  eventsEach: 15,
  audit: 20_000,
  minutes: 4_000,
  hours: 8_000,
  traces: 8_000,
};

/** Tables that grow with use: a page must not read one of them from end to end. Counters by the minute stand for hours only. */
export const BIG = [
  "sequence_count",
  "calibration_event",
  "audit_entry",
  "request_stat_hour",
  "escalation_length",
  "request_trace",
] as const;
/** These grow too, by one row a run. */
export const GROWING = [...BIG, "calibration", "calibration_attempt", "score", "mapper"] as const;

/**
 * Fills a database by copying one real run in SQL: the same counts, score and mapper under other ids and times, so that
 * every page reads what it would read.
 */
export async function loadFleet(databaseUrl: string, calibrationId: string, scale: Scale): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const copy = await copier(client);
    for (const text of statements(calibrationId, scale, copy)) await client.query(text);
    await client.query("VACUUM ANALYZE");
  } finally {
    await client.end();
  }
}

/** Rows of a table as they are, but for the columns that are named: `o` is the row that is copied. */
type Copy = (table: string, changes: Record<string, string>, from: string) => string;

async function copier(client: pg.Client): Promise<Copy> {
  const { rows } = await client.query<{ table: string; columns: string[] }>(
    `SELECT table_name::text AS table, array_agg(column_name::text ORDER BY ordinal_position) AS columns
     FROM information_schema.columns WHERE table_schema = 'public' GROUP BY 1`,
  );
  const columnsOf = new Map(rows.map(({ table, columns }) => [table, columns]));
  return (table, changes, from) => {
    const columns = columnsOf.get(table) ?? [];
    const quoted = columns.map((column) => `"${column}"`).join(", ");
    const values = columns.map((column) => changes[column] ?? `o."${column}"`).join(", ");
    return `INSERT INTO "${table}" (${quoted}) SELECT ${values} FROM ${from}`;
  };
}

function statements(run: string, scale: Scale, copy: Copy): string[] {
  const { calibrations, pairs, countsEach, eventsEach, audit } = scale;
  const models = Math.ceil((1 + Math.sqrt(1 + 4 * pairs)) / 2) + 1;
  const own = `(SELECT pair_id FROM calibration WHERE id = '${run}')`;
  const attempt = `(SELECT id FROM calibration_attempt WHERE calibration_id = '${run}' ORDER BY number DESC LIMIT 1)`;
  const days = (share: string) => `interval '200 days' * (1 - ${share})`;
  return [
    copy(
      "model",
      { id: "uuidv7()", name: "'model-' || i", facts: "o.facts || jsonb_build_object('id', 'model-' || i)" },
      `generate_series(1, ${models}) i, model o WHERE o.name = 'pilot'`,
    ),
    copy(
      "pair",
      {
        id: "uuidv7()",
        source_id: "s.id",
        target_id: "t.id",
        status: `(ARRAY['ELIGIBLE','TRANSFER_INELIGIBLE','NOT_CALIBRATED']::"PairStatus"[])[1 + row_number() OVER () % 3]`,
      },
      `model s JOIN model t ON s.id <> t.id AND s.name LIKE 'model-%' AND t.name LIKE 'model-%', pair o
       WHERE o.id = ${own} LIMIT ${pairs}`,
    ),
    // A hundredth of all runs is of one pair: somebody refits it every night.
    `CREATE TEMP TABLE made AS
     WITH others AS (SELECT array_agg(p.id ORDER BY p.id) AS ids FROM pair p JOIN model m ON m.id = p.source_id WHERE m.name LIKE 'model-%')
     SELECT i, gen_random_uuid() AS attempt, uuidv7(-${days(`i::float8 / ${calibrations}`)}) AS id,
       now() - ${days(`i::float8 / ${calibrations}`)} AS at,
       CASE WHEN i % 100 = 0 THEN ${own} ELSE others.ids[1 + i % ${pairs}] END AS pair,
       (CASE WHEN i % 20 = 1 THEN 'FAILED' WHEN i % 25 = 2 THEN 'CANCELLED' WHEN i % 100 = 3 THEN 'LOST'
         ELSE 'SUCCEEDED' END)::"CalibrationState" AS state
     FROM generate_series(1, ${calibrations}) i, others`,
    "ANALYZE made",
    copy(
      "calibration",
      {
        id: "m.id",
        pair_id: "m.pair",
        state: "m.state",
        verdict: "CASE WHEN m.state = 'SUCCEEDED' THEN o.verdict END",
        created_at: "m.at",
        started_at: "m.at + interval '1 minute'",
        finished_at: "m.at + interval '9 minutes'",
        started_by: "'person-' || m.i % 40 || '@example.com'",
      },
      `made m, calibration o WHERE o.id = '${run}'`,
    ),
    copy(
      "calibration_attempt",
      {
        id: "m.attempt",
        calibration_id: "m.id",
        number: "1",
        state: "m.state",
        started_at: "m.at",
        finished_at: "m.at + interval '9 minutes'",
      },
      `made m, calibration_attempt o WHERE o.id = ${attempt}`,
    ),
    copy(
      "calibration_event",
      { attempt_id: "m.attempt", at: "m.at + o.seq * interval '4 seconds'" },
      `made m, (SELECT row_number() OVER (ORDER BY j, e.seq)::int AS seq, e.type,
           CASE WHEN e.type = 'counts' THEN jsonb_set(e.body, '{n}', '${countsEach}') ELSE e.body END AS body
         FROM calibration_event e, generate_series(1, ${eventsEach}) j
         WHERE e.attempt_id = ${attempt} AND (e.type <> 'counts' OR e.body ->> 'arm' = 'mapper')
           AND (j = 1 OR e.type IN ('log', 'progress'))
         ORDER BY 1 LIMIT ${eventsEach}) o`,
    ),
    copy(
      "sequence_count",
      { attempt_id: "m.attempt" },
      `made m, (SELECT * FROM sequence_count WHERE attempt_id = ${attempt}
         ORDER BY arm <> 'mapper', arm, split, sequence LIMIT ${countsEach}) o`,
    ),
    // The heat map of a large model: 40 layers of 8 heads.
    copy(
      "score",
      {
        calibration_id: "m.id",
        created_at: "m.at + interval '9 minutes'",
        scores:
          "jsonb_set(jsonb_set(o.scores, '{kv_cosine,k_by_layer_head}', h.map), '{kv_cosine,v_by_layer_head}', h.map)",
      },
      `made m, score o, (SELECT jsonb_agg(row) AS map FROM (
         SELECT jsonb_agg(round((0.8 + 0.2 * random())::numeric, 4)) AS row
         FROM generate_series(1, 40) l, generate_series(1, 8) GROUP BY l) r) h
       WHERE o.calibration_id = '${run}' AND m.state = 'SUCCEEDED'`,
    ),
    copy(
      "artifact",
      { sha256: "encode(sha256(m.id::text::bytea), 'hex')" },
      `made m, artifact o JOIN mapper p ON p.sha256 = o.sha256
       WHERE p.calibration_id = '${run}' AND m.state = 'SUCCEEDED'`,
    ),
    copy(
      "mapper",
      {
        id: "gen_random_uuid()",
        pair_id: "m.pair",
        calibration_id: "m.id",
        sha256: "encode(sha256(m.id::text::bytea), 'hex')",
        created_at: "m.at + interval '9 minutes'",
        state: `(CASE WHEN m.pair <> o.pair_id AND m.i = n.newest THEN 'ACTIVE' WHEN m.i % 3 = 0 THEN 'RETIRED'
          ELSE 'INACTIVE' END)::"MapperState"`,
      },
      `made m JOIN (SELECT pair, max(i) AS newest FROM made WHERE state = 'SUCCEEDED' GROUP BY 1) n ON n.pair = m.pair,
         mapper o WHERE o.calibration_id = '${run}' AND m.state = 'SUCCEEDED'`,
    ),
    `INSERT INTO audit_entry (id, at, actor_kind, actor_id, actor_name, verb, entity, entity_id, before, after, request_id)
     SELECT uuidv7(-ago), now() - ago, 'person', NULL, 'person-' || n.i % 40 || '@example.com',
       (ARRAY['calibration.start','calibration.finish','setting.update','tenant.setEnabled','key.create','mapper.activate','host.join'])[1 + n.i % 7],
       (ARRAY['calibration','calibration','setting','tenant','key','mapper','worker'])[1 + n.i % 7],
       CASE WHEN n.i % 7 < 2 THEN m.id::text ELSE 'thing-' || n.i % 500 END,
       '{"state":"QUEUED"}', '{"state":"RUNNING","attempt":1,"worker":"w1"}', 'request-' || n.i
     FROM (SELECT i, ${days(`i::float8 / ${audit}`)} AS ago FROM generate_series(1, ${audit}) i) n
     JOIN made m ON m.i = 1 + n.i % ${calibrations}`,
    `INSERT INTO tenant (id, name, enabled) SELECT uuidv7(), 'tenant-' || i, i % 4 = 0 FROM generate_series(1, 100) i`,
    `INSERT INTO api_key (id, tenant_id, name, prefix, hash, created_by, last_used_at)
     SELECT uuidv7(), t.id, 'key ' || i, 'hlm_' || md5(t.id::text || i), md5(t.id::text || i || 'h'), 'seed', now()
     FROM tenant t, generate_series(1, 10) i WHERE t.name LIKE 'tenant-%'`,
    copy(
      "host",
      {
        id: "uuidv7()",
        name: "k.kind || '-' || i",
        kind: `k.kind::"HostKind"`,
        credential_hash: "md5(k.kind || i)",
        last_seen_at: "now()",
        connected_at: "now()",
      },
      `generate_series(1, 50) i, unnest(ARRAY['worker', 'node']) AS k(kind), host o WHERE o.name = 'w1'`,
    ),
    ...trafficStatements(scale),
    `INSERT INTO judge_table (id, pair_id, sha256, "table", created_by)
     SELECT uuidv7(), p.id, encode(sha256((p.id::text || i)::bytea), 'hex'), '${JSON.stringify(judgeTable())}', 'seed'
     FROM pair p, generate_series(1, 3) i`,
    "INSERT INTO node_state (node_id) SELECT id FROM host WHERE kind = 'node' ON CONFLICT DO NOTHING",
    copy(
      "routing_snapshot",
      {
        generation: "o.generation + i",
        sha256: "md5(i::text)",
        created_at: "now() - (500 - i) * interval '1 hour'",
      },
      "generate_series(1, 500) i, (SELECT * FROM routing_snapshot ORDER BY generation DESC LIMIT 1) o",
    ),
    `INSERT INTO node_ack (node_id, kind, generation, ok, sha256)
     SELECT h.id, 'routing_snapshot', s.generation, true, s.sha256 FROM host h, routing_snapshot s WHERE h.kind = 'node'`,
    `INSERT INTO "user" (id, name, email, role) SELECT uuidv7(), 'person-' || i, 'person-' || i || '@example.com',
       (ARRAY['viewer','operator','admin'])[1 + i % 3]::"Role" FROM generate_series(1, 200) i`,
    `INSERT INTO session (id, token, user_id, expires_at) SELECT uuidv7(), md5(u.id::text || i), u.id, now() + interval '7 days'
     FROM "user" u, generate_series(1, 5) i WHERE u.email LIKE 'person-%'`,
    "DROP TABLE made",
  ];
}
