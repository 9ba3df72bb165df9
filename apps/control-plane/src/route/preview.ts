import { z } from "zod";
import type { Call, Context } from "../context";
import { judgeThreshold } from "../judge/threshold";
import { type PairFacts, readPairFacts } from "../overview/route-facts";
import { listRoutes, RouteFields, type RouteOut } from "./schema";

export const PreviewRouteInput = RouteFields.partial().extend({
  /** The route that is edited; null for a new one. */
  name: z.string().nullable(),
  newName: z.string().optional(),
  pairId: z.uuid().optional(),
  remove: z.boolean().optional(),
});
export const PreviewRouteOutput = z.object({ sentences: z.array(z.string()) });

type Input = z.infer<typeof PreviewRouteInput>;

/** What storing this would do, in words, from what stands now. Nothing is stored. */
export async function previewRoute({ ctx, input }: Call<Input>) {
  const routes = await listRoutes(ctx);
  const setting = await ctx.db.setting.findUniqueOrThrow({ where: { id: 1 } });
  const pairs = await readPairFacts(ctx);
  const before = routes.find((route) => route.name === input.name) ?? null;
  const pair = pairs.get(input.pairId ?? before?.pairId ?? "");
  const sentences = input.remove
    ? removal(before, routes)
    : [
        ...(before ? [] : creation(input, routes)),
        ...pairChange(input, before, pair),
        ...judgeChange(input, before),
        ...(await tableChange(ctx, input, before)),
        ...otherChanges(input, before),
        ...(await tenantsOfTheirOwn(ctx, input, before)),
      ];
  if (sentences.length === 0) return { sentences: ["Nothing: this is what stands already."] };
  if (setting.killSwitch)
    sentences.push("The kill switch is pulled: nothing of it shows until it is released.");
  else if (!setting.helmEnabled)
    sentences.push("Helm is off: the route is served by its target, and the rest shows once Helm is on.");
  return { sentences };
}

function creation({ newName }: Input, routes: RouteOut[]): string[] {
  const name = newName || "this name";
  const first =
    routes.length === 0 ? " It is the first route, so requests without a model go to it, too." : "";
  return [`Clients that ask for ${name} are served by it; today they get 404 model_not_found.${first}`];
}

function removal(before: RouteOut | null, routes: RouteOut[]): string[] {
  if (!before) return [];
  const next = routes.find((route) => route.name !== before.name);
  const gone = `Clients that ask for ${before.name} get 404 model_not_found from then on; requests that name a model are not touched.`;
  if (!before.isDefault) return [gone];
  const rest = next
    ? `Requests without a model go to ${next.name} instead.`
    : "It is the last route: requests without a model are refused (400 model_required), and nothing is routed any more.";
  return [gone, rest];
}

function pairChange(input: Input, before: RouteOut | null, pair: PairFacts | undefined): string[] {
  if (!pair) return input.pairId ? ["There is no such pair."] : [];
  if (before && (!input.pairId || input.pairId === before.pairId)) return [];
  const who = `Requests are answered by ${pair.pilot} first, and the hard ones by ${pair.target}.`;
  if (pair.refusal !== null)
    return [
      `The pair may not be used (${pair.refusal}): until it may, every request to this route goes to ${pair.target} directly.`,
    ];
  const where = `The mapper is ready on ${pair.ready} of ${pair.connected} connected ${pair.connected === 1 ? "node" : "nodes"}; elsewhere the target reads the prompt itself.`;
  return [who, where, ...(pair.development ? ["This mapper is for development nodes only."] : [])];
}

function judgeChange({ judge, judgeTable }: Input, before: RouteOut | null): string[] {
  if (!judge || !before) return [];
  const table = judgeTable === undefined ? before.judgeTable : judgeTable;
  const same = judge.meanLogprob === before.judge.meanLogprob && judge.minLogprob === before.judge.minLogprob;
  if (table)
    return same
      ? []
      : [
          "The two bounds stand by: they judge where a tenant holds back another share of the answer than the table's.",
        ];
  const moves = [
    moved("mean token log-probability", before.judge.meanLogprob, judge.meanLogprob),
    moved("least token log-probability", before.judge.minLogprob, judge.minLogprob),
  ].filter((move) => move !== null);
  return moves;
}

async function tableChange(
  ctx: Context,
  { judgeTable, streaming, window }: Input,
  before: RouteOut | null,
): Promise<string[]> {
  const held = before?.judgeTable ?? null;
  if (judgeTable === null)
    return held
      ? [
          `The table ${held.sha256.slice(0, 12)} no longer judges: answers are escalated by the two log-probability bounds.`,
        ]
      : [];
  if (judgeTable === undefined) {
    const moved = streaming !== undefined && streaming !== before?.streaming;
    const resized = before?.streaming === "window" && window !== undefined && window !== before.window;
    if (held && (moved || resized))
      return [
        "This is refused while the route keeps its judge's table: that was fitted for what is held back now.",
      ];
    return [];
  }
  if (held?.id === judgeTable.id && JSON.stringify(held.by) === JSON.stringify(judgeTable.by)) return [];
  const threshold = await judgeThreshold({ ctx, input: judgeTable });
  return [threshold.sentence];
}

function moved(what: string, from: number, to: number): string | null {
  if (from === to) return null;
  const more = to > from ? "more" : "fewer";
  return `Answers are escalated where the ${what} is below ${to} instead of ${from}: ${more} of them.`;
}

function otherChanges(input: Input, before: RouteOut | null): string[] {
  if (!before) return [];
  const { streaming, window, defaultMaxTokens, holdTurns, newName } = input;
  const said: string[] = [];
  if (newName && newName !== before.name)
    said.push(`Clients have to ask for ${newName}; ${before.name} becomes 404 model_not_found.`);
  if (streaming && streaming !== before.streaming) said.push(STREAMING[streaming]);
  if (window && window !== before.window && (streaming ?? before.streaming) === "window")
    said.push(
      `The judge sees the first ${window} tokens instead of ${before.window}, and clients wait for those.`,
    );
  if (defaultMaxTokens && defaultMaxTokens !== before.defaultMaxTokens)
    said.push(`A request without max_tokens gets ${defaultMaxTokens} instead of ${before.defaultMaxTokens}.`);
  if (holdTurns !== undefined && holdTurns !== before.holdTurns)
    said.push(
      holdTurns === null
        ? "After an escalation a session stays on the target."
        : `After an escalation a session stays on the target for ${holdTurns} answers; then the pilot answers again.`,
    );
  return [...said, ...switchChange(input, before), ...shareChanges(input, before)];
}

function switchChange({ maxSwitches }: Input, before: RouteOut): string[] {
  if (maxSwitches === undefined || maxSwitches === before.maxSwitches) return [];
  const tail = "beyond that whoever answers reads the conversation itself (DRIFT_LIMIT).";
  return maxSwitches === 0
    ? ["No conversation's cache is carried across any more: every escalation prefills (DRIFT_LIMIT)."]
    : [`A conversation's cache is carried across ${plural(maxSwitches, "time")} at most; ${tail}`];
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

const SHARES = [
  ["shareKept", "kept answers are also answered by the target, where there is room"],
  ["shareEscalated", "escalated answers are also answered by the target's own prefill, where there is room"],
  ["shareForced", "sure answers are escalated all the same"],
] as const;

function shareChanges(input: Input, before: RouteOut): string[] {
  return SHARES.flatMap(([field, what]) => {
    const share = input[field];
    if (share === undefined || share === before[field]) return [];
    return [`${percent(share)} instead of ${percent(before[field])} of ${what}.`];
  });
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(4))} %`;
}

const STREAMING = {
  buffer: "Clients get an answer once all of it was judged: nothing is streamed before.",
  window: "Clients get the first tokens once these were judged; from then on the answer streams.",
  stream: "Answers stream at once, and nothing is escalated by the judge any more.",
} as const;

/** Overrides win over what is edited here: whoever has one is not moved by it. */
async function tenantsOfTheirOwn(ctx: Context, input: Input, before: RouteOut | null): Promise<string[]> {
  if (!before) return [];
  const tenants = await ctx.db.tenant.findMany({ where: { archivedAt: null }, orderBy: { name: "asc" } });
  const said = (changed: boolean, own: (tenant: (typeof tenants)[number]) => boolean, what: string) => {
    const names = tenants.filter(own).map(({ name }) => name);
    return changed && names.length > 0
      ? [
          `${names.slice(0, 5).join(", ")}${names.length > 5 ? ` and ${names.length - 5} more` : ""} keep their own ${what}.`,
        ]
      : [];
  };
  const { judge, streaming, window } = input;
  const judged =
    judge && (judge.meanLogprob !== before.judge.meanLogprob || judge.minLogprob !== before.judge.minLogprob);
  return [
    ...said(Boolean(judged), (t) => t.meanLogprob !== null || t.minLogprob !== null, "thresholds"),
    ...said(
      streaming !== undefined && streaming !== before.streaming,
      (t) => t.streaming !== null,
      "streaming mode",
    ),
    ...said(window !== undefined && window !== before.window, (t) => t.window !== null, "window"),
  ];
}
