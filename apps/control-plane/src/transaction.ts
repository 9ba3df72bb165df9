import { setTimeout as pause } from "node:timers/promises";
import { HelmError } from "@helm/contracts";
import { hintTopics } from "./audit/topics";
import type { Context } from "./context";
import { publishAccessList } from "./snapshot/publish-access-list";
import { publishSnapshot } from "./snapshot/publish-snapshot";
import { isRace } from "./trpc/storage-trouble";

export interface TransactionOptions {
  /** Refuse to commit without an audit row: every mutation that a person asks for. */
  audited: boolean;
  /** Compile what nodes should do afterwards; a new document is written only if it differs. */
  publish: boolean;
  /** Longest duration; the default is for what a person waits for. */
  timeoutMs?: number;
}

/** Locks are taken in one order, so that hardly any is needed; a machine that is busy beyond that is told so. */
const MOST_TRIES = 4;
const PAUSE_MS = 40;

/**
 * Runs a verb in one transaction with its audit row and, where asked, the documents that follow from it. Where the database
 * ends it for another one's sake nothing of it has happened, and it is tried again: `work` may run several times.
 */
export async function inTransaction<T>(
  outer: Context,
  options: TransactionOptions,
  work: (ctx: Context) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await runOnce(outer, options, work);
    } catch (error) {
      if (tries === MOST_TRIES || !isRace(error)) throw error;
      outer.log.warn(
        { err: error, tries },
        "two transactions stood in each other's way; this one is tried again",
      );
      // Not at one moment again.
      await pause(Math.random() * PAUSE_MS * tries);
    }
  }
}

async function runOnce<T>(
  outer: Context,
  options: TransactionOptions,
  work: (ctx: Context) => Promise<T>,
): Promise<T> {
  const after: (() => void | Promise<void>)[] = [];
  const touched = new Set<string>();
  const { db, hub } = outer.services;
  const result = await db.$transaction(
    async (tx) => {
      const ctx: Context = {
        ...outer,
        db: tx,
        touched,
        verbs: new Set(),
        afterCommit: (step) => after.push(step),
      };
      const value = await work(ctx);
      if (options.audited && !touched.has("audit")) {
        throw new HelmError(
          "INTERNAL",
          "Nothing was changed.",
          {},
          { message: "a mutation wrote no audit row" },
        );
      }
      if (options.publish) {
        await publishSnapshot(ctx);
        await publishAccessList(ctx);
      }
      return value;
    },
    { maxWait: 10_000, timeout: options.timeoutMs ?? 30_000 },
  );
  const under = after.map((step) => step());
  for (const topic of hintTopics(touched)) hub.hint(topic);
  await Promise.all(under);
  return result;
}

export function outsideTransaction(
  fields: Omit<Context, "db" | "touched" | "verbs" | "afterCommit">,
): Context {
  return {
    ...fields,
    db: fields.services.db,
    touched: new Set(),
    verbs: new Set(),
    afterCommit: () => {
      throw new Error("afterCommit outside a transaction");
    },
  };
}
