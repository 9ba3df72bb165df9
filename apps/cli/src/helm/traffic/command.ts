import type { Command } from "commander";
import type { AddVerb } from "../../verb";
import { askPlayground } from "./ask";
import { listRequests } from "./requests";
import { showTraffic } from "./summary";
import { showTrace } from "./trace";

/** What became of requests, and one question asked both ways. */
export function addTraffic(helm: Command, verb: AddVerb): void {
  const traffic = helm.command("traffic").description("what became of requests");
  const range = (command: Command) =>
    command
      .option("--hours <n>", "how far back, 1 to 720 (default 24)")
      .option("--tenant <name>", "one tenant's requests")
      .option("--pair <source:target>", "one pair's requests");
  range(verb(traffic, "summary", "counters by tenant, pair and reason", (c, _, o) => showTraffic(c, o)));
  range(verb(traffic, "requests", "sampled requests, newest first", (c, _, o) => listRequests(c, o)))
    .option("--decision <word>", "kept, escalated, direct, explicit, refused, failed or client_error")
    .option("--transfer <word>", "transferred, fallback or none")
    .option("--reason <code>", "a reason or an error's code, e.g. TIMEOUT")
    .option("--because <word>", "why it was sampled: fallback, refusal, error, share, rate or asked")
    .option("--limit <n>", "how many at most (default 50)")
    .option("--after <trace>", "those after this one, as the list's end says")
    .option("--csv", "print CSV");
  verb(traffic, "trace <id>", "one request: x-helm-trace-id of its answer", (c, [id = ""], o) =>
    showTrace(c, id, { withText: o.text === true, wait: o.wait === true }),
  )
    .option("--text", "prompt and answer too, where they are kept; written into the audit")
    .option("--wait", "look for a new one until it has arrived");
  const playground = helm.command("playground").description("one prompt, pilot and target side by side");
  verb(playground, "ask <prompt>", "ask pilot, target and the route, one after the other", (c, [p = ""], o) =>
    askPlayground(c, p, o),
  )
    .option("--route <name>", "the route (without it the default one)")
    .option("--node <name>", "the node (without it one that is connected)")
    .option("--system <text>", "a system message")
    .option("--max-tokens <n>", "tokens at most (default 64)");
}
