import { parseArgs } from "node:util";
import { compareWithOffline, type EqualityCounts, NEAR_TIE, OfflineAnswers } from "./equality";
import { type RealEngine, startRealEngine } from "./real-engine";
import { startTestGateway, type TestGateway } from "./test-gateway";

const USAGE = "npm run check:equality -- [--prompts 200] [--max-tokens 48] [--concurrency 1,8,64]";
/** Below this many sequences a step nothing was shown of answers that are worked on together. */
const LEAST_BATCH = 4;
const BATCHED_FROM = 64;

/** Why the target reads the prompt itself; each is provoked for a part of the prompts. */
const fallbacks: Record<string, (gateway: TestGateway) => void> = {
  BLOCK_TOO_SMALL: ({ dials }) => {
    dials.readiness = { pair_id: dials.pair.id, state: "READY", min_tokens: null };
  },
  MAPPER_NOT_RESIDENT: ({ dials }) => {
    dials.readiness = { pair_id: dials.pair.id, state: "FETCHING" };
  },
  ARTIFACT_UNREADABLE: ({ dials }) => {
    dials.pair.mapper_sha256 = "b".repeat(64);
  },
};

/** Exit 0 only where every live answer is the offline one, transferred and not, alone and beside others. */
async function main(): Promise<number> {
  const asked = readAsked();
  if (asked === null) {
    process.stderr.write(`Usage: ${USAGE}\n`);
    return 2;
  }
  const { prompts, maxTokens, levels } = asked;
  process.stdout.write("Starting the reference engine and fitting a mapper for pilot -> target ...\n");
  const real = await startRealEngine();
  // A busy machine must not be taken for a transfer that hangs: with 64 at once each waits for the others.
  const limits = { transferMs: 60_000 };
  const gateway = await startTestGateway({ socketPath: real.socketPath }, { maxWaiting: 256, limits });
  // Both bounds at zero: no answer is sure enough, every request escalates.
  gateway.dials.route.judge = { version: "logprob-1", mean_logprob: 0, min_logprob: 0 };
  const offline = new OfflineAnswers(real, maxTokens);
  let good = true;
  try {
    for (const atOnce of levels) {
      const ask = { prompts, maxTokens, atOnce };
      turnBack(gateway, real);
      const moved = await compareWithOffline(gateway, real, { ...ask, transfer: "force" }, offline);
      report(`transferred, ${atOnce} at once`, moved);
      good &&= moved.different.length === 0 && moved.transferred >= Math.min(100, prompts);
      if (atOnce >= BATCHED_FROM) good &&= (moved.meanBatch ?? 0) >= LEAST_BATCH;
      const few = Math.ceil(prompts / Object.keys(fallbacks).length);
      for (const [reason, turn] of Object.entries(fallbacks)) {
        turnBack(gateway, real);
        turn(gateway);
        const ask = { prompts: few, maxTokens, atOnce, transfer: "auto" as const };
        const native = await compareWithOffline(gateway, real, ask, offline);
        report(`${reason}, ${atOnce} at once`, native);
        good &&= native.different.length === 0 && native.transferred === 0;
      }
    }
    process.stdout.write(
      good ? "Every answer is the offline one.\n" : "Something is different; see above.\n",
    );
    return good ? 0 : 1;
  } finally {
    await gateway.stop();
    await real.stop();
  }
}

function readAsked(): { prompts: number; maxTokens: number; levels: number[] } | null {
  try {
    const { values } = parseArgs({
      options: {
        prompts: { type: "string", default: "200" },
        "max-tokens": { type: "string", default: "48" },
        concurrency: { type: "string", default: "1,8,64" },
      },
    });
    const levels = values.concurrency.split(",").map(Number);
    const numbers = [Number(values.prompts), Number(values["max-tokens"])] as const;
    if (![...levels, ...numbers].every((one) => Number.isInteger(one) && one > 0)) return null;
    return { prompts: numbers[0], maxTokens: numbers[1], levels };
  } catch {
    return null;
  }
}

function turnBack({ dials }: TestGateway, real: RealEngine): void {
  dials.pair.mapper_sha256 = real.mapperSha256;
  dials.readiness = { pair_id: dials.pair.id, state: "READY", min_tokens: 1 };
}

function report(what: string, counts: EqualityCounts): void {
  const batch = counts.meanBatch === null ? "nothing decoded" : `mean batch ${counts.meanBatch.toFixed(1)}`;
  const fell = Object.entries(counts.fallbacks).map(([reason, count]) => `${count} ${reason}`);
  process.stdout.write(
    `${what}: ${counts.prompts} prompts, ${counts.transferred} transferred` +
      `${fell.length > 0 ? ` (native: ${fell.join(", ")})` : ""}, ${counts.equal} equal, ` +
      `${counts.nearTies} differing only after a margin below ${NEAR_TIE}, ` +
      `${counts.different.length} different; ${batch}\n`,
  );
  for (const one of counts.different) process.stdout.write(`  different: ${JSON.stringify(one)}\n`);
}

process.exitCode = await main();
