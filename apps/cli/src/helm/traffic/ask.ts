import type { Context } from "../../context";
import { Failure, usage } from "../../failure";
import { requireServer, type Server } from "../../server/client";
import { printable, table } from "../../terminal/style";
import { wholeOf } from "../given";
import { pickByName } from "../routing/pick";
import { waitUntil } from "../routing/poll";

type Run = Awaited<ReturnType<Server["playground"]["get"]["query"]>>;

/** One prompt, asked of the pilot, of the target and through the route. Errors: Failure where it was not answered. */
export async function askPlayground(
  { config, screen }: Context,
  prompt: string,
  options: Record<string, string | boolean | undefined>,
): Promise<void> {
  const text = (key: string) => (typeof options[key] === "string" ? String(options[key]) : undefined);
  const most = text("maxTokens");
  const maxTokens = most === undefined ? undefined : wholeOf(most);
  const server = await requireServer(config);
  const nodes = await server.node.list.query();
  const wanted = text("node");
  const node = wanted ? pickByName(nodes, wanted, "node") : nodes.find(({ connected }) => connected);
  if (!node) throw usage("No node is connected. Look at lifeboat helm node list.");
  const route = text("route") ?? (await server.route.get.query())?.name;
  if (!route) throw usage("There is no route to ask. Create one with lifeboat helm route create NAME.");
  screen.note(`Asking pilot, target and ${route} on ${node.name}, one after the other.`);
  const { id } = await server.playground.ask.mutate({
    nodeId: node.id,
    route,
    prompt,
    system: text("system") ?? null,
    ...(maxTokens !== undefined && { maxTokens }),
  });
  const run = await waitUntil(
    () => server.playground.get.query({ id }),
    ({ state }) => state !== "RUNNING",
    () => `The question ${id} is still being asked.`,
  );
  if (run.state !== "DONE")
    throw new Failure(1, run.state, run.error ?? `The question ended as ${run.state}. Ask again.`);
  screen.answer({ type: "playground", ...run }, () => lines(run));
}

function lines({ answers }: Run): string[] {
  return [
    ...answers.flatMap(({ side, text, error }) => [
      `${side}:`,
      error ? `${error.code}: ${error.message}` : printable(text),
      "",
    ]),
    ...table(
      ["side", "answered by", "decision", "reason", "transfer", "first token", "in all", "tokens", "trace"],
      answers.map((answer) => [
        answer.side,
        answer.model ?? "",
        answer.decision ?? "",
        answer.reason ?? "",
        answer.transfer ?? "",
        answer.first_token_ms === null ? "" : `${answer.first_token_ms} ms`,
        `${answer.total_ms} ms`,
        String(answer.completion_tokens ?? ""),
        answer.trace_id ?? "",
      ]),
    ),
  ];
}
