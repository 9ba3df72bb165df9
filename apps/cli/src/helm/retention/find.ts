import { Failure, usage } from "../../failure";
import type { Server } from "../../server/client";
import { allMappers, type Mapper } from "../mapper-pages";

export type Pair = Awaited<ReturnType<Server["pair"]["list"]["query"]>>[number];

/** A registered pair by its two models. Errors: Failure with the pairs there are. */
export async function findPair(server: Server, source: string, target: string): Promise<Pair> {
  const pairs = await server.pair.list.query();
  const found = pairs.find((pair) => pair.source.id === source && pair.target.id === target);
  if (found) return found;
  const there = pairs.map((pair) => `${pair.source.id} -> ${pair.target.id}`).join(", ");
  throw new Failure(
    1,
    "NOT_FOUND",
    `There is no pair ${source} -> ${target}. There are ${there || "none"}; register it with lifeboat helm pair register.`,
  );
}

/** "pilot:target" as a pair; undefined where nothing was given. */
export async function findPairNamed(server: Server, named: string | undefined): Promise<Pair | undefined> {
  if (named === undefined) return undefined;
  const [source, target, ...rest] = named.split(":");
  if (!source || !target || rest.length > 0)
    throw usage(`--pair ${named} is no pair. Name it SOURCE:TARGET, e.g. pilot:target.`);
  return findPair(server, source, target);
}

/** By id, or by the beginning of the digest. Errors: Failure where none or several are meant. */
export async function findMapper(server: Server, given: string): Promise<Mapper> {
  const mappers = await allMappers(server);
  const found = mappers.filter(
    ({ id, sha256 }) => id === given || (given.length >= 6 && sha256.startsWith(given.toLowerCase())),
  );
  const [one] = found;
  if (one && found.length === 1) return one;
  if (found.length > 1) {
    const which = found.map(({ id, pairName, state }) => `  ${id}  ${pairName}  ${state}`);
    throw new Failure(
      2,
      "AMBIGUOUS",
      `${found.length} mappers are called ${given}. Name one by its id:`,
      which,
    );
  }
  throw new Failure(
    1,
    "NOT_FOUND",
    `There is no mapper ${given}. Give its id or at least six digits of its sha256, as lifeboat helm mapper list shows them.`,
  );
}
