import { traceOf } from "../testing/traces";

export interface TrafficScale {
  /** Rows of the last hours, by the minute. */
  minutes: number;
  /** Of the newest month, by the hour; four times as many are of the eleven before. */
  hours: number;
  traces: number;
}

/** What becomes of requests, a line each: decision, reason, transfer. */
const WAYS = `(VALUES (0, 'kept', 'CONFIDENT', 'none'), (1, 'kept', 'STREAM_MODE', 'none'), (2, 'explicit', '', 'none'),
  (3, 'escalated', 'LOW_MEAN', 'transferred'), (4, 'escalated', 'LOW_MIN', 'transferred'), (5, 'escalated', 'AGENT', 'transferred'),
  (6, 'escalated', 'TIMEOUT', 'fallback'), (7, 'refused', 'kv_memory_short', '')) AS way(n, decision, reason, transfer)`;

/**
 * Counters in the tables where they would stand: minutes as long as those are kept, hours before; traces of a week. A tenant
 * asks by one route, so its pair is one.
 */
export function trafficStatements({ minutes, hours, traces }: TrafficScale): string[] {
  const tenants = "(SELECT array_agg(id::text) AS ids FROM tenant)";
  const pairs = "(SELECT array_agg(id::text) AS ids FROM (SELECT id FROM pair ORDER BY id LIMIT 20) p)";
  return [
    `INSERT INTO request_stat (bucket, node_id, tenant_id, pair_id, decision, reason, transfer, requests, tokens_moved, first_token_ms_sum)
     SELECT date_trunc('minute', now() - i::float8 / ${minutes} * interval '5 hours'), '', t.ids[1 + j % 100],
       p.ids[1 + j % 20], way.decision, way.reason, way.transfer, 1 + i % 50, 512, 40
     FROM generate_series(1, ${Math.ceil(minutes / 8)}) AS n(j) CROSS JOIN LATERAL (SELECT j * 8 AS i) k, ${WAYS},
       ${tenants} t, ${pairs} p ON CONFLICT DO NOTHING`,
    `INSERT INTO request_stat_hour (bucket, tenant_id, pair_id, decision, reason, transfer, requests, tokens_moved, first_token_ms_sum)
     SELECT date_trunc('hour', now() - interval '6 hours' - ${age(hours, 4)}), t.ids[1 + j % 100], p.ids[1 + j % 20],
       way.decision, way.reason, way.transfer, 900, 51200, 36000
     FROM generate_series(1, ${Math.ceil((5 * hours) / 8)}) AS n(j) CROSS JOIN LATERAL (SELECT j * 8 AS i) k, ${WAYS},
       ${tenants} t, ${pairs} p ON CONFLICT DO NOTHING`,
    `INSERT INTO escalation_length (bucket, node_id, pair_id, transfer, from_tokens, requests, first_token_ms_sum, first_token_ms_squares)
     SELECT date_trunc('hour', now() - interval '6 hours' - ${age(hours, 2)}), '', p.ids[1 + j % 4], way.transfer,
       power(2, 5 + b)::int, 40, 4000, 500000
     FROM generate_series(1, ${Math.ceil((3 * hours) / 16)}) AS n(j) CROSS JOIN LATERAL (SELECT j * 16 AS i) k,
       generate_series(0, 7) b, (VALUES ('transferred'), ('fallback')) AS way(transfer), ${pairs} p ON CONFLICT DO NOTHING`,
    // One in twenty is of a random share, answered both ways.
    `INSERT INTO request_trace (id, at, received_at, node_id, tenant_id, pair_id, route, decision, reason, transfer, status,
       error_code, kept, share_kind, document)
     SELECT md5(i::text), r.at, r.at, h.ids[1 + i % 50], r.tenant, r.pair, 'helm-auto', way.decision, way.reason, way.transfer,
       CASE WHEN way.decision = 'refused' THEN 429 ELSE 200 END, CASE WHEN way.decision = 'refused' THEN way.reason ELSE '' END,
       CASE WHEN r.share = '' THEN 'rate' ELSE 'share' END, r.share, '${JSON.stringify(traceDocument())}'::jsonb || jsonb_build_object('id', md5(i::text),
         'tenant_id', r.tenant, 'pair_id', r.pair, 'decision', NULLIF(way.decision, 'refused'), 'reason', NULLIF(way.reason, ''),
         'transfer', NULLIF(way.transfer, ''), 'tokens', jsonb_build_object('prompt', 32 + i % 4000, 'moved', NULL, 'tail', NULL),
         'first_token_ms', 20 + i % 300, 'share', CASE WHEN r.share = '' THEN NULL ELSE ${share()} END)
     FROM generate_series(1, ${Math.ceil(traces / 8)}) AS n(j), ${WAYS}, ${tenants} t, ${pairs} p,
       (SELECT array_agg(id::text) AS ids FROM host WHERE kind = 'node') h
     CROSS JOIN LATERAL (SELECT j * 8 + way.n AS i) k
     CROSS JOIN LATERAL (SELECT now() - i::float8 / ${traces} * interval '7 days' AS at, t.ids[1 + i % 100] AS tenant,
       p.ids[1 + i % 20] AS pair, CASE WHEN j % 20 > 0 THEN '' WHEN way.decision = 'escalated'
         THEN 'escalated_also_native' WHEN way.decision = 'kept' THEN 'kept_also_target' ELSE '' END AS share) r
     ON CONFLICT DO NOTHING`,
  ];
}

/** Of row `i`: the first `month` rows are of the newest month, `before` times as many of the eleven before. */
function age(month: number, before: number): string {
  const share = `(i::float8 / ${month})`;
  return `(least(${share}, 1) * interval '30 days' + greatest(${share} - 1, 0) / ${before} * interval '335 days')`;
}

function traceDocument() {
  const { text: _, ...document } = traceOf();
  return document;
}

function share(): string {
  return `jsonb_build_object('kind', r.share, 'propensity', 0.05, 'positions', jsonb_build_object('agreed', i % 60, 'compared', 60),
    'first_token_agrees', i % 10 > 0, 'pilot_mean_loglik', -0.5 - (i % 7) / 10.0, 'target_mean_loglik', -0.4,
    'label', NULL, 'first_token_ms', 60 + i % 400)`;
}
