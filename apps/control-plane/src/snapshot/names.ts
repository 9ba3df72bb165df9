import type { Tx } from "../context";
import type { Names } from "./diff-routing";

/** Names of nodes, revoked ones too, and of pairs: documents know both by id alone. */
export async function readNames(db: Tx): Promise<Names> {
  const hosts = await db.host.findMany({ where: { kind: "node" }, select: { id: true, name: true } });
  const pairs = await db.pair.findMany({ select: { id: true, source: true, target: true } });
  const nodes = new Map(hosts.map(({ id, name }) => [id, name]));
  const named = new Map(pairs.map(({ id, source, target }) => [id, `${source.name} -> ${target.name}`]));
  return { node: (id) => nodes.get(id) ?? id, pair: (id) => named.get(id) };
}
