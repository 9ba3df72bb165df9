import { auditWords } from "@helm/contracts";
import type { Context } from "../../context";
import { usage } from "../../failure";
import { requireServer, type Server } from "../../server/client";
import { table } from "../../terminal/style";
import { waitUntil } from "./poll";

type State = Awaited<ReturnType<Server["snapshot"]["state"]["query"]>>;
type Row = Awaited<ReturnType<Server["snapshot"]["list"]["query"]>>["rows"][number];

export async function listSnapshots({ config, screen }: Context, limit: number): Promise<void> {
  if (!Number.isInteger(limit) || limit < 1) throw usage("--limit takes a whole number from 1.");
  const server = await requireServer(config);
  const rows: Row[] = [];
  for (let cursor: number | undefined; rows.length < limit; ) {
    const page = await server.snapshot.list.query({ limit: Math.min(200, limit - rows.length), cursor });
    rows.push(...page.rows);
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  screen.answer({ type: "snapshots", snapshots: rows }, () =>
    table(
      ["generation", "at (UTC)", "by", "acks", "why"],
      rows.map((row) => [
        String(row.generation),
        row.createdAt.toISOString().slice(0, 19).replace("T", " "),
        row.actor?.name ?? "-",
        ackWords(row),
        [whyWords(row), row.note].filter(Boolean).join(": "),
      ]),
      [0],
    ),
  );
}

function whyWords({ verbs, rolledBackTo }: Pick<Row, "verbs" | "rolledBackTo">): string {
  const words = [...new Set(verbs.map(auditWords))].join(", ") || "written at a start";
  return rolledBackTo === null ? words : `${words}, held at ${rolledBackTo}`;
}

function ackWords({ acks }: Row): string {
  const refused = acks.filter(({ ok }) => !ok);
  const taken = `${acks.length - refused.length} acked`;
  return refused.length === 0 ? taken : `${taken}, refused by ${refused.map(({ node }) => node).join(", ")}`;
}

export async function showSnapshot({ config, screen }: Context, given: string | undefined): Promise<void> {
  const server = await requireServer(config);
  const state = await server.snapshot.state.query();
  const snapshot = await server.snapshot.get.query({
    generation: given === undefined ? state.generation : numberOf(given),
  });
  screen.answer({ type: "snapshot", snapshot, ...(given === undefined ? { state } : {}) }, () => [
    `Generation ${snapshot.generation}${snapshot.newest ? ", the newest" : ""}, ${snapshot.createdAt.toISOString()} by ${snapshot.actor?.name ?? "somebody"} (${whyWords(snapshot)})`,
    ...(snapshot.note ? [`Note: ${snapshot.note}`] : []),
    ...(given === undefined && state.hold ? holdWords(state.hold) : []),
    `sha256 ${snapshot.sha256}`,
    "",
    snapshot.differences.length === 0 ? "It says what the one before said." : "Against the one before:",
    ...snapshot.differences.map(({ sentence }) => `  ${sentence}`),
    "",
    ...table(
      ["node", "answer", "at"],
      snapshot.acks.map((ack) => [
        ack.node,
        ack.ok ? "acked" : `refused, keeps ${ack.kept ?? "?"}: ${ack.reason}`,
        ack.at.toISOString(),
      ]),
    ),
  ]);
}

function holdWords(hold: NonNullable<State["hold"]>): string[] {
  return [
    `Rolled back to ${hold.generation} by ${hold.by}${hold.note ? `: ${hold.note}` : ""}. A release would bring:`,
    ...hold.differences.map(({ sentence }) => `  ${sentence}`),
  ];
}

export async function diffSnapshots({ config, screen }: Context, from: string, to?: string): Promise<void> {
  const server = await requireServer(config);
  const diff = await server.snapshot.diff.query({
    from: numberOf(from),
    to: to === undefined ? null : numberOf(to),
  });
  screen.answer({ type: "diff", ...diff }, () =>
    diff.differences.length === 0 ? ["Both say the same."] : diff.differences.map(({ sentence }) => sentence),
  );
}

export async function rollbackSnapshot(
  context: Context,
  given: string,
  options: { wait: boolean; note?: string | undefined },
): Promise<number> {
  const server = await requireServer(context.config);
  const { generation: newest } = await server.snapshot.state.query();
  const note = options.note ? { note: options.note } : {};
  const generation = numberOf(given);
  const { differences } = await server.snapshot.diff.query({ from: newest, to: generation });
  const rolled = await server.snapshot.rollback.mutate({ generation, newest, ...note });
  for (const { sentence } of differences) context.screen.note(sentence);
  return tellPublished(
    context,
    server,
    rolled.generation,
    options.wait,
    `with what ${given} said, held until released`,
  );
}

export async function releaseSnapshot(context: Context, options: { wait: boolean }): Promise<number> {
  const server = await requireServer(context.config);
  const { hold, generation } = await server.snapshot.state.query();
  const released = await server.snapshot.release.mutate({ held: hold?.generation ?? generation });
  return tellPublished(context, server, released.generation, options.wait, "with what the settings say");
}

/** Exit code 1 where a node refused the generation. */
async function tellPublished(
  { screen }: Context,
  server: Server,
  generation: number,
  wait: boolean,
  what: string,
): Promise<number> {
  if (!wait) {
    screen.answer({ type: "published", generation }, () => [`Generation ${generation} ${what}.`]);
    return 0;
  }
  const state = await waitUntil(
    () => server.snapshot.state.query(),
    (found) => isAnswered(found, generation),
    (found) => `No answer to generation ${generation} from ${silent(found).join(", ")} after five minutes.`,
  );
  const refused = state.nodes.filter(({ answer }) => answer && !answer.ok);
  screen.answer({ type: "published", generation, nodes: state.nodes }, () => [
    `Generation ${generation} ${what}.`,
    ...table(
      ["node", "connection", "answer"],
      state.nodes.map((node) => [
        node.name,
        node.connected ? "connected" : "away",
        node.answer
          ? node.answer.ok
            ? "acked"
            : `refused, keeps ${node.answer.kept ?? "?"}: ${node.answer.reason}`
          : "-",
      ]),
    ),
  ]);
  return refused.length > 0 ? 1 : 0;
}

/** Every connected node has acked or refused it, or something newer stands in its place. */
export function isAnswered(state: Pick<State, "generation" | "nodes">, generation: number): boolean {
  return state.generation > generation || silent(state).length === 0;
}

function silent({ nodes }: Pick<State, "nodes">): string[] {
  return nodes.filter(({ connected, answer }) => connected && answer === null).map(({ name }) => name);
}

function numberOf(given: string): number {
  if (!/^[1-9]\d{0,8}$/.test(given)) throw usage(`A generation is a whole number such as 7, not ${given}.`);
  return Number(given);
}
