import type { Context } from "../context";
import { Failure, usage } from "../failure";
import { requireServer, type Server } from "../server/client";
import { table } from "../terminal/style";
import { numberOf, pick, wholeOf } from "./given";
import { readJudgeChoice } from "./judge/choice";

type Options = Record<string, string | boolean | undefined>;

export async function listRoutes({ config, screen }: Context): Promise<void> {
  const routes = await (await requireServer(config)).route.list.query();
  screen.answer({ type: "routes", routes }, () => {
    if (routes.length === 0) return ["No route yet: the first pair that is registered gets helm-auto."];
    const rows = routes.map((route) => [
      route.isDefault ? `${route.name} (default)` : route.name,
      route.pairName,
      route.judgeTable
        ? `table ${route.judgeTable.sha256.slice(0, 12)}, from ${route.judgeTable.threshold.threshold.toFixed(3)}`
        : `below ${route.judge.meanLogprob} / ${route.judge.minLogprob}`,
      route.streaming === "window" ? `window ${route.window}` : route.streaming,
      String(route.holdTurns ?? "never down"),
      String(route.defaultMaxTokens),
      String(route.revision),
    ]);
    return table(
      [
        "route",
        "pair",
        "escalates (bounds: mean / least)",
        "streaming",
        "hold turns",
        "max_tokens",
        "revision",
      ],
      rows,
    );
  });
}

export async function showRoute({ config, screen }: Context, name: string): Promise<void> {
  const server = await requireServer(config);
  const route = await findRoute(server, name);
  const { routes } = await server.overview.helm.query();
  const now = routes.find((one) => one.name === name);
  screen.answer({ type: "route", route: { ...route, ...now } }, () => [
    `${route.name}${route.isDefault ? " (default)" : ""}: ${route.pairName}, revision ${route.revision}.`,
    now?.refusal
      ? `Its pair may not be used: ${now.refusal}. Every request goes to the target.`
      : `Ready on ${now?.readyNodes ?? 0} of ${now?.connectedNodes ?? 0} connected nodes.`,
    ...(route.judgeTable
      ? [
          `Judged by table ${route.judgeTable.sha256.slice(0, 12)}${route.judgeTable.stale ? " (of other weights: its bounds judge)" : ""}. ${route.judgeTable.threshold.sentence}`,
        ]
      : []),
    `${route.judgeTable ? "Its bounds, where the table does not hold: e" : "E"}scalates below ${route.judge.meanLogprob} (mean) or ${route.judge.minLogprob} (least); streaming ${route.streaming}, window ${route.window}; hold turns ${route.holdTurns ?? "never down"}; max_tokens ${route.defaultMaxTokens}.`,
    `Carries a conversation's cache ${route.maxSwitches} times at most; random shares: kept ${route.shareKept}, escalated ${route.shareEscalated}, forced ${route.shareForced}.`,
  ]);
}

export async function createRoute(
  { config, screen }: Context,
  name: string,
  options: Options,
): Promise<void> {
  const server = await requireServer(config);
  const { judge, pairId, ...fields } = await readFields(server, options);
  const judgeTable = await readJudgeChoice(server, options, null);
  if (!pairId) throw usage("A route needs a pair: --pair SOURCE:TARGET.");
  const route = await server.route.create.mutate({
    ...fields,
    name,
    pairId,
    judgeTable,
    judge: { meanLogprob: judge.meanLogprob ?? -0.5, minLogprob: judge.minLogprob ?? -3 },
  });
  screen.answer({ type: "route", route }, () => [
    `Created ${route.name} over ${route.pairName} (revision ${route.revision}).`,
  ]);
}

export async function setRoute({ config, screen }: Context, name: string, options: Options): Promise<void> {
  const server = await requireServer(config);
  const route = await findRoute(server, name);
  const { judge, ...given } = await readFields(server, options);
  const fields = { ...given, judgeTable: await readJudgeChoice(server, options, route.judgeTable) };
  const newName = typeof options.rename === "string" ? options.rename : undefined;
  const said = Object.values({ ...fields, ...judge, newName }).some((value) => value !== undefined);
  if (!said) throw usage("Nothing to change: give one of the options (--help lists them).");
  const { meanLogprob, minLogprob } = { ...route.judge, ...drop(judge) };
  const change = { ...fields, newName, judge: { meanLogprob, minLogprob } };
  const preview = await server.route.preview.query({ ...change, name });
  if (options.dryRun === true) return screen.answer({ type: "preview", ...preview }, () => preview.sentences);
  const revision = typeof options.revision === "string" ? wholeOf(options.revision) : route.revision;
  const stored = await server.route.update.mutate({ ...change, name, revision });
  screen.answer({ type: "route", route: stored, preview }, () => [
    `Stored ${stored.name} (revision ${stored.revision}).`,
    ...preview.sentences,
  ]);
}

export async function removeRoute({ config, screen }: Context, name: string, given?: number): Promise<void> {
  const server = await requireServer(config);
  const { revision } = await findRoute(server, name);
  const removed = await server.route.remove.mutate({ name, revision: given ?? revision });
  screen.answer({ type: "removed", ...removed }, () => [
    `${removed.name} is removed: whoever asks for it gets 404 model_not_found.`,
  ]);
}

async function readFields(server: Server, options: Options) {
  const said = <T>(key: string, read: (text: string) => T): T | undefined =>
    typeof options[key] === "string" ? read(options[key]) : undefined;
  const pair = said("pair", (text) => text);
  return {
    pairId: pair === undefined ? undefined : await findPair(server, pair),
    judge: { meanLogprob: said("meanLogprob", numberOf), minLogprob: said("minLogprob", numberOf) },
    streaming: said("streaming", (text) => pick(text, ["buffer", "window", "stream"] as const)),
    window: said("window", wholeOf),
    defaultMaxTokens: said("maxTokens", wholeOf),
    holdTurns: said("holdTurns", (text) => (text === "never" ? null : wholeOf(text))),
    maxSwitches: said("maxSwitches", wholeOf),
    shareKept: said("shareKept", numberOf),
    shareEscalated: said("shareEscalated", numberOf),
    shareForced: said("shareForced", numberOf),
  };
}

function drop<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}

async function findRoute(server: Server, name: string) {
  const routes = await server.route.list.query();
  const found = routes.find((route) => route.name === name);
  if (found) return found;
  const there = routes.map((route) => route.name).join(", ") || "none";
  throw new Failure(1, "NOT_FOUND", `There is no route "${name}". There are: ${there}.`);
}

/** SOURCE:TARGET, or the pair's id. */
async function findPair(server: Server, text: string): Promise<string> {
  const pairs = await server.pair.list.query();
  const found = pairs.find((pair) => pair.id === text || `${pair.source.id}:${pair.target.id}` === text);
  if (found) return found.id;
  const there = pairs.map((pair) => `${pair.source.id}:${pair.target.id}`).join(", ") || "none";
  throw new Failure(1, "NOT_FOUND", `There is no pair ${text}. There are: ${there}.`);
}
