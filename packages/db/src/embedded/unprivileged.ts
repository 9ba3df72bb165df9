import { spawnSync } from "node:child_process";
import { chmod, stat } from "node:fs/promises";
import { dirname } from "node:path";

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

/**
 * Makes the server end (its fast shutdown) when who started it is gone, killed outright for one. Without setpriv it goes
 * on, and the next start takes it over.
 */
export function endingWithParent(program: string, args: string[]): [string, string[]] {
  const prefix = ["--pdeathsig", "INT"];
  if (process.platform !== "linux" || spawnSync("setpriv", [...prefix, "true"]).status !== 0)
    return [program, args];
  return ["setpriv", [...prefix, program, ...args]];
}

export function commandFor(who: Unprivileged, program: string, args: string[]): [string, string[]] {
  const [first, ...rest] = who.prefix;
  return first ? [first, [...rest, program, ...args]] : [program, args];
}

/**
 * Where the process takes another uid, that user must be able to walk to `stateDir`. The folder around it is
 * Helm's own and is opened for passing through; others are not touched. Errors: the folder that bars the way.
 */
export async function openWay(stateDir: string, who: Unprivileged): Promise<void> {
  if (who.uid === undefined) return;
  const own = dirname(stateDir);
  for (let folder = own; folder !== dirname(folder); folder = dirname(folder)) {
    const { mode } = await stat(folder);
    if (mode & 0o001) continue;
    if (folder === own) await chmod(folder, mode | 0o011);
    else {
      throw new Error(
        `PostgreSQL refuses to run as root, and the user "nobody" cannot pass ${folder}. Allow user namespaces (unshare -U), set HELM_STATE_DIR to a folder outside it, or set DATABASE_URL.`,
      );
    }
  }
}
