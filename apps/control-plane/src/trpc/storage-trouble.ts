import { HelmError } from "@helm/contracts";

/** Prisma's codes for a server that cannot be reached or hung up. */
const PRISMA_DOWN = new Set(["P1001", "P1002", "P1008", "P1011", "P1017", "P2028"]);
/** No connection was free in time, or the server gives no more of them. */
const PRISMA_BUSY = new Set(["P2024", "P2037"]);
/** SQLSTATE: connection trouble, and a server that stops, crashed or recovers. */
const SQL_DOWN = /^(08\w{3}|57P0[1-5])$/;
const SQL_TOO_MANY_CONNECTIONS = "53300";
const SQL_FULL = "53100";
const SOCKET_DOWN = new Set(["ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "EPIPE", "ENOTFOUND", "EAI_AGAIN"]);
const DISK_FULL = new Set(["ENOSPC", "EDQUOT"]);
const KINDS_DOWN = new Set(["DatabaseNotReachable", "ConnectionClosed", "SocketTimeout"]);
const KIND_BUSY = "TooManyConnections";
// What the pg driver says without any code.
const SAID_DOWN =
  /^(Connection terminated|Query read timeout|Client has encountered a connection error|Cannot use a pool after)/;
/** To who waited for one of the pool's connections; one that cannot be made says "Connection terminated". Or too slow. */
const SAID_BUSY = /^timeout exceeded when trying to connect|expired transaction/;

type Trouble = "DATABASE_DOWN" | "DATABASE_BUSY" | "STORAGE_FULL";

const SENTENCES: Record<Trouble, string> = {
  DATABASE_DOWN:
    "The database does not answer, so nothing was changed. Helm goes on by itself once it is back; try again then.",
  DATABASE_BUSY:
    "The database has more to do than it can do in time, so nothing was changed. Try again in a few seconds.",
  STORAGE_FULL:
    "There is no room left on the server's disk, so nothing was changed. Make room, then try again.",
};

export function databaseTrouble(code: "DATABASE_DOWN" | "DATABASE_BUSY", cause?: unknown): HelmError {
  return new HelmError(code, SENTENCES[code], {}, { cause });
}

/** The database being away or too busy, or a full disk, however deep in `error` it is said; null for anything else. */
export function storageTrouble(error: unknown): HelmError | null {
  const code = find(error, 0);
  if (!code) return null;
  const message = error instanceof Error ? error.message : String(error);
  return new HelmError(code, SENTENCES[code], {}, { cause: error, message });
}

const RACES = new Set(["40001", "40P01", "TransactionWriteConflict", "P2034"]);

/** Two transactions stood in each other's way and the database ended one: the same request may go through now. */
export function isRace(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null || depth > 6) return false;
  const said = value as Record<string, unknown>;
  if ([said.code, said.originalCode, said.kind].some((code) => RACES.has(String(code)))) return true;
  return [said.cause, said.meta, said.driverAdapterError].some((inner) => isRace(inner, depth + 1));
}

function find(value: unknown, depth: number): Trouble | null {
  if (typeof value !== "object" || value === null || depth > 6) return null;
  const said = value as Record<string, unknown>;
  // An object store's answer is its own matter.
  if ("$metadata" in said) return null;
  if (value instanceof Error && SAID_BUSY.test(value.message)) return "DATABASE_BUSY";
  for (const code of [said.code, said.originalCode, said.kind]) {
    if (typeof code !== "string") continue;
    if (code === SQL_FULL || DISK_FULL.has(code)) return "STORAGE_FULL";
    if (PRISMA_BUSY.has(code) || code === SQL_TOO_MANY_CONNECTIONS || code === KIND_BUSY)
      return "DATABASE_BUSY";
    if (PRISMA_DOWN.has(code) || SQL_DOWN.test(code) || SOCKET_DOWN.has(code) || KINDS_DOWN.has(code))
      return "DATABASE_DOWN";
  }
  if (value instanceof Error && SAID_DOWN.test(value.message)) return "DATABASE_DOWN";
  for (const inner of [said.cause, said.meta, said.driverAdapterError, ...listOf(said.errors)]) {
    const found = find(inner, depth + 1);
    if (found) return found;
  }
  return null;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value.slice(0, 5) : [];
}
