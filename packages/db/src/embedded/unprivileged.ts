import { spawnSync } from "node:child_process";

const NOBODY = 65534;

/** How to run a program that refuses to be root. */
export interface Unprivileged {
  /** Goes before the program and its arguments. */
  prefix: string[];
  /** Set where files must belong to another user. */
  uid?: number;
  gid?: number;
}

/**
 * PostgreSQL refuses to run as root. A user namespace in which root is "nobody" keeps the files ours and
 * needs no readable path for another user; where namespaces are off, the process takes nobody's uid.
 */
export function findUnprivileged(): Unprivileged {
  if (process.getuid?.() !== 0) return { prefix: [] };
  const prefix = ["unshare", "-U", `--map-user=${NOBODY}`, `--map-group=${NOBODY}`];
  const [command = "", ...args] = prefix;
  if (process.platform === "linux" && spawnSync(command, [...args, "true"]).status === 0) return { prefix };
  return { prefix: [], uid: NOBODY, gid: NOBODY };
}

export function commandFor(who: Unprivileged, program: string, args: string[]): [string, string[]] {
  const [first, ...rest] = who.prefix;
  return first ? [first, [...rest, program, ...args]] : [program, args];
}
