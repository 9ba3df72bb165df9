import { PrismaPg } from "@prisma/adapter-pg";

type Transaction = Awaited<ReturnType<Awaited<ReturnType<PrismaPg["connect"]>>["startTransaction"]>>;

/**
 * Prisma asks for the relations of a row side by side, also inside a transaction, where there is one connection for all of
 * them. The pg driver will refuse a second statement on a busy connection; here the second one waits for the first.
 */
export class OneAtATimePg extends PrismaPg {
  override async connect() {
    const adapter = await super.connect();
    const start = adapter.startTransaction.bind(adapter);
    adapter.startTransaction = async (isolation) => oneAtATime(await start(isolation));
    return adapter;
  }
}

function oneAtATime(transaction: Transaction): Transaction {
  let last: Promise<unknown> = Promise.resolve();
  const afterLast = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work, work);
    last = mine;
    return mine;
  };
  const { queryRaw, executeRaw } = transaction;
  transaction.queryRaw = (query) => afterLast(() => queryRaw.call(transaction, query));
  transaction.executeRaw = (query) => afterLast(() => executeRaw.call(transaction, query));
  return transaction;
}
