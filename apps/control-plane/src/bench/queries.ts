import type { Db } from "@helm/db";

/** Ids to ask for, drawn from a loaded database. */
export interface Known {
  runs: string[];
  scored: string[];
  /** Runs of the pair with the most of them. */
  ofBusyPair: string[];
  pairs: string[];
  busyPair: string;
  tenants: string[];
  nodes: string[];
  registrations: string[];
  audit: string[];
  traces: string[];
  judges: string[];
  mappers: string[];
  questions: string[];
  generations: number[];
}

export async function readKnown(db: Db): Promise<Known> {
  const ids = (rows: { id: string }[]) => rows.map((row) => row.id);
  const [busy] = await db.calibration.groupBy({
    by: ["pairId"],
    _count: true,
    orderBy: { _count: { pairId: "desc" } },
    take: 1,
  });
  const busyPair = busy?.pairId ?? "";
  const id = { id: true } as const;
  const every = async (take: number) =>
    ids(
      await db.$queryRaw<{ id: string }[]>`
    SELECT id FROM calibration ORDER BY md5(id::text) LIMIT ${take}`,
    );
  return {
    runs: await every(40),
    scored: ids(await db.calibration.findMany({ where: { score: { isNot: null } }, select: id, take: 40 })),
    ofBusyPair: ids(
      await db.calibration.findMany({
        where: { pairId: busyPair, score: { isNot: null } },
        select: id,
        orderBy: { id: "desc" },
        take: 20,
      }),
    ),
    pairs: [busyPair, ...ids(await db.pair.findMany({ select: id, take: 20 }))],
    busyPair,
    tenants: ids(await db.tenant.findMany({ select: id, take: 20 })),
    nodes: ids(await db.host.findMany({ where: { kind: "node" }, select: id, take: 20 })),
    registrations: ids(await db.pairRegistration.findMany({ select: id, take: 20 })),
    audit: ids(
      await db.$queryRaw<{ id: string }[]>`SELECT id FROM audit_entry ORDER BY md5(id::text) LIMIT 20`,
    ),
    questions: ids(await db.playgroundRun.findMany({ select: id, orderBy: { createdAt: "desc" }, take: 1 })),
    mappers: ids(await db.$queryRaw`SELECT id FROM mapper ORDER BY md5(id::text) LIMIT 8`),
    judges: ids(await db.judgeTable.findMany({ select: id, take: 20 })),
    traces: ids(await db.$queryRaw`SELECT id FROM request_trace ORDER BY md5(id) LIMIT 20`),
    generations: (await db.routingSnapshot.findMany({ select: { generation: true }, take: 20 })).map(
      (row) => row.generation,
    ),
  };
}

const DAY_MS = 86_400_000;
const ago = (days: number) => new Date(Date.now() - days * DAY_MS);
const nothing = () => [undefined];
const ranges = ({ tenants, pairs }: Known) => [
  undefined,
  { hours: 1 },
  { hours: 168 },
  { hours: 720 },
  { hours: 720, tenant: tenants[0] },
  { hours: 720, pair: pairs[0] },
];
const byId = (ids: string[]) => ids.map((id) => ({ id }));

/**
 * What each page asks, with the filters it offers. A query that the console calls and that is not here fails a test:
 * add what its page sends.
 */
export const QUERIES: Record<string, (known: Known) => unknown[]> = {
  "setup.status": nothing,
  "session.current": nothing,
  "account.get": nothing,
  "account.sessions": nothing,
  "token.list": nothing,
  "token.listAll": nothing,
  "person.list": nothing,
  "invitation.list": nothing,
  "overview.helm": nothing,
  "setting.get": nothing,
  "setting.preview": () => [{ gate: 0.99 }, { requireBeatsPilot: false }],
  "setting.killSwitchReach": nothing,
  "route.get": nothing,
  "route.list": nothing,
  "route.preview": ({ busyPair }) => [
    { name: null, newName: "another", pairId: busyPair },
    { name: "helm-auto", window: 32 },
  ],
  "model.list": nothing,
  "pair.list": nothing,
  "pair.get": ({ pairs }) => byId(pairs),
  "pair.registration": ({ registrations }) => byId(registrations),
  "pair.registrations": () => [{}],
  "pair.storage": nothing,
  "pair.placement": ({ pairs }) => byId(pairs),
  "calibration.list": ({ runs, pairs, busyPair }) => [
    undefined,
    { limit: 25 },
    { limit: 100 },
    ...runs.slice(0, 8).map((cursor) => ({ limit: 50, cursor })),
    ...pairs.slice(0, 4).map((pairId) => ({ pairId, limit: 50 })),
    { pairId: busyPair, limit: 50 },
    { limit: 50, states: ["FAILED"] },
    { limit: 50, states: ["QUEUED", "RUNNING"] },
    { limit: 50, states: ["LOST"], cursor: runs[0] },
    { limit: 50, verdict: "CLEARED" },
    { limit: 50, verdict: "BELOW_GATE" },
    { limit: 50, startedBy: "person-7@example.com" },
    { limit: 50, startedBy: "nobody@example.com" },
    { limit: 50, since: ago(100), until: ago(99) },
    { limit: 50, since: ago(190), until: ago(189), startedBy: "person-7@example.com" },
  ],
  "calibration.starters": nothing,
  "calibration.drainReach": ({ pairs }) => pairs.map((pairId) => ({ pairId })),
  "calibration.get": ({ runs, ofBusyPair }) => byId([...runs, ...ofBusyPair]),
  "calibration.events": ({ runs }) => runs.map((id) => ({ id, afterSeq: 0, limit: 1000 })),
  "calibration.compare": ({ ofBusyPair }) =>
    ofBusyPair.slice(1).map((second) => ({ first: ofBusyPair[0], second })),
  "mapper.list": ({ pairs, mappers }) => [
    undefined,
    { limit: 200 },
    ...mappers.map((cursor) => ({ cursor })),
    ...pairs.map((pairId) => ({ pairId, limit: 20 })),
    { pairId: pairs[0], limit: 20, cursor: mappers[0] },
  ],
  "judge.list": ({ pairs }) => [{}, ...pairs.slice(0, 6).map((pairId) => ({ pairId }))],
  "judge.get": ({ judges }) => byId(judges),
  "judge.threshold": ({ judges }) => judges.map((id) => ({ id, by: { escalation_rate: 0.2 } })),
  "judge.check": ({ judges }) => byId(judges),
  "drift.list": ({ pairs }) => pairs.map((pairId) => ({ pairId })),
  "evaluation.list": ({ pairs }) => pairs.map((pairId) => ({ pairId })),
  "ladder.list": nothing,
  "tenant.list": nothing,
  "tenant.get": ({ tenants }) => byId(tenants),
  "tenant.effective": ({ tenants }) => byId(tenants),
  "key.list": ({ tenants }) => tenants.map((tenantId) => ({ tenantId })),
  "worker.list": nothing,
  "node.list": nothing,
  "node.get": ({ nodes }) => byId(nodes),
  "node.acks": ({ nodes }) => byId(nodes),
  "host.joinTokens": nothing,
  "snapshot.list": nothing,
  "snapshot.get": ({ generations }) => generations.map((generation) => ({ generation })),
  "snapshot.diff": ({ generations }) => generations.slice(1).map((to) => ({ from: generations[0], to })),
  "snapshot.state": nothing,
  "traffic.summary": ranges,
  "traffic.series": ranges,
  "traffic.reasons": ranges,
  "traffic.lengths": ranges,
  "traffic.agreement": ranges,
  "traffic.quality": ranges,
  "traffic.requests": ({ tenants, pairs, nodes, traces }) => [
    {},
    { hours: 720, limit: 500 },
    ...traces.slice(0, 4).map((cursor) => ({ hours: 720, cursor })),
    { hours: 720, decision: "escalated" },
    { hours: 720, decision: "refused" },
    { hours: 720, decision: "failed" },
    { hours: 720, decision: "client_error" },
    { hours: 720, decision: "client_error", transfer: "transferred" },
    { hours: 720, decision: "kept", transfer: "fallback" },
    { hours: 720, decision: "escalated", reason: "CONFIDENT" },
    { hours: 720, reason: "TIMEOUT" },
    { hours: 720, reason: "no_such" },
    { hours: 168, transfer: "fallback" },
    { hours: 720, transfer: "none" },
    { hours: 720, node: nodes[0] },
    { hours: 720, node: "no-such" },
    { hours: 168, kept: "share" },
    { hours: 168, tenant: tenants[0], pair: pairs[0] },
    { hours: 168, tenant: tenants[1], reason: "TIMEOUT" },
  ],
  "playground.get": ({ questions }) => byId(questions),
  "traffic.trace": ({ traces }) => byId(traces),
  "audit.list": ({ audit, runs }) => [
    {},
    { limit: 500 },
    ...audit.slice(0, 6).map((cursor) => ({ limit: 50, cursor })),
    { entity: "calibration", limit: 50 },
    { entity: "calibration", entityId: runs[0], limit: 50 },
    { verb: "key.create", limit: 50, cursor: audit[0] },
    { verb: "no.such", limit: 50 },
    { actor: "person-3@example.com", limit: 50 },
    { actor: "nobody@example.com", limit: 50 },
    { requestId: "request-77", limit: 50 },
    { actorKind: "person", limit: 50 },
    { actorKind: "anonymous", limit: 50, cursor: audit[0] },
    { since: ago(100), until: ago(99), limit: 50 },
    { entity: "tenant", actor: "person-3@example.com", since: ago(30), limit: 50 },
    { verb: "mapper.activate", actor: "person-3@example.com", limit: 50 },
  ],
  "audit.values": nothing,
};
