import { randomUUID } from "node:crypto";
import type { Db } from "@helm/db";
import pg from "pg";
import type { Services } from "../context";
import { appRouter } from "../router";
import { outsideTransaction } from "../transaction";
import { createCallerFactory } from "../trpc/procedure";
import { explain, isRead, type Plan } from "./plans";
import { QUERIES, readKnown } from "./queries";
import { watchedDb } from "./watched-db";

const createCaller = createCallerFactory(appRouter);

export interface QueryMeasure {
  path: string;
  calls: number;
  /** Of the whole procedure, in ms: what it asks, and what it makes of the answer. */
  times: number[];
  plans: Plan[];
  /** Inputs that were refused: the page would show an error. */
  errors: string[];
}

export interface MeasureOptions {
  services: Services;
  databaseUrl: string;
  paths: string[];
  /** Calls of each procedure in all, its inputs by turns. */
  calls: number;
  /** Explanations of one statement at most, with other values each. */
  explanations: number;
}

/** Every procedure with all of its inputs: times without, plans with EXPLAIN (ANALYZE, BUFFERS). */
export async function measureQueries(options: MeasureOptions): Promise<QueryMeasure[]> {
  const { services, databaseUrl, paths } = options;
  const watched = watchedDb(databaseUrl);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const person = await services.db.user.findFirst({ where: { role: "admin" } });
    const id = person?.id ?? randomUUID();
    await askSomething(services.db, id);
    const known = await readKnown(services.db);
    const ctx = outsideTransaction({
      services: { ...services, db: watched.db },
      actor: {
        kind: "person",
        id,
        name: "bench",
        email: person?.email ?? "bench@example.com",
        role: "admin",
        sessionId: randomUUID(),
      },
      requestId: randomUUID(),
      address: "127.0.0.1",
      log: services.log,
    });
    const caller = createCaller(ctx) as unknown as Record<
      string,
      Record<string, (input: unknown) => Promise<unknown>>
    >;
    const measured: QueryMeasure[] = [];
    for (const path of paths) {
      const [noun = "", verb = ""] = path.split(".");
      const call = (input: unknown) =>
        caller[noun]?.[verb]?.(input) ?? Promise.reject(new Error(`no ${path}`));
      const inputs = QUERIES[path]?.(known) ?? [];
      measured.push(await measureOne(path, inputs, call, { ...options, watched, client }));
    }
    return measured;
  } finally {
    await client.end();
    await watched.stop();
  }
}

interface Measuring extends Pick<MeasureOptions, "calls" | "explanations"> {
  watched: ReturnType<typeof watchedDb>;
  client: pg.Client;
}

async function measureOne(
  path: string,
  inputs: unknown[],
  call: (input: unknown) => Promise<unknown>,
  { watched, client, calls, explanations }: Measuring,
): Promise<QueryMeasure> {
  const measured: QueryMeasure = { path, calls: 0, times: [], plans: [], errors: [] };
  const explained = new Map<string, number>();
  for (const input of inputs) {
    watched.take();
    await call(input).catch((error: Error) =>
      measured.errors.push(`${JSON.stringify(input)}: ${error.message}`),
    );
    for (const said of watched.take().filter(isRead)) {
      const times = explained.get(said.text) ?? 0;
      if (times >= explanations) continue;
      explained.set(said.text, times + 1);
      measured.plans.push(await explain(client, said));
    }
  }
  for (let i = 0; i < calls && inputs.length > 0; i += 1) {
    const from = performance.now();
    await call(inputs[i % inputs.length]).catch(() => {});
    measured.times.push(performance.now() - from);
    measured.calls += 1;
  }
  return measured;
}

/** A question of the person that measures: nobody reads another's. */
async function askSomething(db: Db, personId: string): Promise<void> {
  const node = await db.host.findFirstOrThrow({ where: { kind: "node" } });
  const ask = { route: "helm-auto", system: null, prompt: "who are you?", maxTokens: 8 };
  const deadlineAt = new Date();
  await db.playgroundRun.create({ data: { nodeId: node.id, personId, state: "DONE", ask, deadlineAt } });
}
