import type { Db, Prisma } from "@helm/db";
import type { Actor } from "./access/actor";
import type { ArtifactStore } from "./artifact/store";
import type { Uploads } from "./artifact/uploads";
import type { Config } from "./config";
import type { Hub } from "./hub";
import type { Log } from "./logging";
import type { Signer } from "./snapshot/signer";

export type Tx = Prisma.TransactionClient;

/** What lives as long as the process. */
export interface Services {
  config: Config;
  db: Db;
  log: Log;
  hub: Hub;
  signer: Signer;
  artifacts: ArtifactStore;
  uploads: Uploads;
}

/** What lives as long as one request, event or timer tick. */
export interface Context {
  services: Services;
  actor: Actor;
  requestId: string;
  /** Address of the caller, for rate limits. */
  address: string;
  log: Log;
  /** The transaction of a mutation, the plain client of a query. */
  db: Tx;
  /** Set inside a transaction: entities it changed, and "audit" once it wrote such a row. */
  touched: Set<string>;
  /** Verbs whose audit rows were written inside this transaction: why a generation came to be. */
  verbs: Set<string>;
  /** Run once the transaction has committed, never before. What takes time is waited for, and must catch its own errors. */
  afterCommit(work: () => void | Promise<void>): void;
}

export interface Call<Input> {
  ctx: Context;
  input: Input;
}
