// Live escalated answers against an offline greedy decode, token for token, over real HTTP and the real engine.
// Usage: npm run check:equality -- [--prompts 200] [--max-tokens 48] [--concurrency 1,8,64]
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./lib/paths.mjs";

const program = join(ROOT, "apps/node/src/testing/run-equality.ts");
const ran = spawnSync(
  process.execPath,
  [join(ROOT, "node_modules/tsx/dist/cli.mjs"), program, ...process.argv.slice(2)],
  { stdio: "inherit", cwd: ROOT },
);
process.exit(ran.status ?? 1);
