import { Failure } from "../../failure";

/** A host by id or name. Errors: Failure where none or several have the name, with what there is. */
export function pickByName<Host extends { id: string; name: string }>(
  hosts: readonly Host[],
  wanted: string,
  kind: "node" | "worker",
): Host {
  const byId = hosts.find(({ id }) => id === wanted);
  const named = hosts.filter(({ name }) => name === wanted);
  const found = byId ?? named[0];
  if (named.length > 1 && !byId) {
    const ids = named.map(({ id }) => id).join(", ");
    throw new Failure(1, "AMBIGUOUS", `Several ${kind}s are called ${wanted}. Give the id of one: ${ids}.`);
  }
  if (found) return found;
  const there = hosts.map(({ name }) => name).join(", ") || "none";
  throw new Failure(1, "NOT_FOUND", `There is no ${kind} ${wanted}. There are: ${there}.`);
}
