import { HelmError } from "@helm/contracts";
import { hintTopics } from "./audit/topics";
import type { Context } from "./context";
import { publishAccessList } from "./snapshot/publish-access-list";
import { publishSnapshot } from "./snapshot/publish-snapshot";

export interface TransactionOptions {
  /** Refuse to commit without an audit row: every mutation that a person asks for. */
  audited: boolean;
  /** Compile what nodes should do afterwards; a new document is written only if it differs. */
  publish: boolean;
  /** Longest duration; the default is for what a person waits for. */
  timeoutMs?: number;
}

/** Runs a verb in one transaction with its audit row and, where asked, the documents that follow from it. */
export async function inTransaction<T>(
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
