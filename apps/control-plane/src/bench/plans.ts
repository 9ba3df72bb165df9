import type pg from "pg";
import type { Said } from "./watched-db";

interface Node {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Actual Rows"?: number;
  "Actual Loops"?: number;
  "Shared Hit Blocks"?: number;
  "Shared Read Blocks"?: number;
  Plans?: Node[];
}

export interface Plan {
  text: string;
  ms: number;
  blocks: number;
  /** "Index Scan calibration_pkey", "Seq Scan pair", in the order of the plan, each once. */
  scans: string[];
  /** Tables that were read from end to end. */
  sequential: string[];
  /** Tables that no index of the database answers for: read from end to end even where that is forbidden. */
  withoutIndex: string[];
}

export function isRead({ text }: Said): boolean {
  return /^\s*(SELECT|WITH)\b/i.test(text) && !/pg_(try_)?advisory|FOR UPDATE/i.test(text);
}

/** EXPLAIN (ANALYZE, BUFFERS) of one statement with its own values. */
export async function explain(client: pg.Client | pg.PoolClient, said: Said): Promise<Plan> {
  const found = await planOf(client, "ANALYZE, BUFFERS, FORMAT JSON", said);
  await client.query("SET enable_seqscan = off");
  const forced = await planOf(client, "FORMAT JSON", said);
  await client.query("RESET enable_seqscan");
  const nodes = flatten(found.Plan);
  const scans = nodes.filter((node) => node["Relation Name"] || node["Node Type"].includes("Index"));
  return {
    text: said.text,
    ms: found["Execution Time"],
    blocks: (found.Plan["Shared Hit Blocks"] ?? 0) + (found.Plan["Shared Read Blocks"] ?? 0),
    scans: [
      ...new Set(
        scans.map((node) => `${node["Node Type"]} ${node["Index Name"] ?? node["Relation Name"] ?? ""}`),
      ),
    ],
    sequential: readWhole(nodes),
    withoutIndex: readWhole(flatten(forced.Plan)),
  };
}

interface Explained {
  Plan: Node;
  "Execution Time": number;
}

async function planOf(client: pg.Client | pg.PoolClient, how: string, said: Said): Promise<Explained> {
  const { rows } = await client.query<{ "QUERY PLAN": Explained[] }>(
    `EXPLAIN (${how}) ${said.text}`,
    said.values,
  );
  const found = rows[0]?.["QUERY PLAN"][0];
  if (!found) throw new Error("no plan");
  return found;
}

function readWhole(nodes: Node[]): string[] {
  const whole = nodes.filter((node) => node["Node Type"].endsWith("Seq Scan"));
  return [...new Set(whole.map((node) => node["Relation Name"] ?? ""))];
}

function flatten(node: Node): Node[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}
