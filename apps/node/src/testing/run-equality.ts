import { compareWithOffline, NEAR_TIE } from "./equality";
import { startRealEngine } from "./real-engine";
import { startTestGateway } from "./test-gateway";

/** `npm run check:equality -- [PROMPTS] [MAX_TOKENS]`: exit 0 only where every live answer is the offline one. */
async function main(): Promise<number> {
  const [prompts = 120, maxTokens = 48] = process.argv.slice(2).map(Number);
  process.stdout.write("Starting the reference engine and fitting a mapper for pilot -> target ...\n");
  const real = await startRealEngine();
  const gateway = await startTestGateway({ socketPath: real.socketPath });
  gateway.dials.pair.mapper_sha256 = real.mapperSha256;
  // Both bounds at zero: no answer is sure enough, every request escalates.
  gateway.dials.route.judge = { version: "logprob-v0", mean_logprob: 0, min_logprob: 0 };
  try {
    let good = true;
    for (const transfer of ["force", "off"] as const) {
      const counts = await compareWithOffline(gateway, real, { prompts, maxTokens, transfer });
      const what =
        transfer === "force" ? "transferred, against the offline decode" : "native, against the target alone";
      process.stdout.write(
        `${what}: ${counts.prompts} prompts, ${counts.transferred} transferred, ${counts.equal} equal, ` +
          `${counts.nearTies} differing only after a margin below ${NEAR_TIE}, ${counts.different.length} different\n`,
      );
      for (const one of counts.different) process.stdout.write(`  different: ${JSON.stringify(one)}\n`);
      const moved =
        transfer === "force" ? counts.transferred >= Math.min(100, prompts) : counts.transferred === 0;
      good &&= counts.different.length === 0 && moved;
    }
    return good ? 0 : 1;
  } finally {
    await gateway.stop();
    await real.stop();
  }
}

process.exitCode = await main();
