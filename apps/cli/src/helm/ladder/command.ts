import { ExitCode, Ladder, type LadderRule, type LadderRung } from "@helm/contracts";
import type { Context } from "../../context";
import { Failure } from "../../failure";
import { requireServer } from "../../server/client";
import { ProgressView } from "../../terminal/progress";
import { Door } from "./door";
import { type Golden, takeGolden } from "./golden";
import { type LadderOptions, type RawOptions, readOptions, rungsOf } from "./options";
import { type Prompts, readPrompts } from "./prompts";
import { ladderLines, rungLine } from "./report";
import { brokenRules, stoppingRule } from "./rules";
import { runRung } from "./rung";

/** Twice as many clients on each rung, until one breaks a rule. Targets are on the screen before the first request. */
export async function ladder(context: Context, raw: RawOptions): Promise<void> {
  const options = readOptions(raw);
  const { screen, config } = context;
  const prompts = await readPrompts(options.prompts);
  const key = config.apiKey;
  if (key === undefined)
    throw new Failure(
      ExitCode.usage,
      "NO_API_KEY",
      "A gateway answers tenants only. Make a key with lifeboat helm key create TENANT NAME, and set LIFEBOAT_API_KEY.",
    );
  // Before the minutes that the climb takes: a result that cannot be stored is not worth them.
  const server = options.record ? await requireServer(config) : null;
  for (const { clients, requests_per_second } of options.targets)
    screen.note(`target, written down before the run: ${requests_per_second}/s at ${clients} clients`);
  const interrupted = new AbortController();
  const stop = () => interrupted.abort();
  process.on("SIGINT", stop).on("SIGTERM", stop);
  const door = new Door(options.gateway, key, options.timeoutMs, interrupted.signal);
  try {
    const climbed = await climb(context, door, options, prompts);
    const recorded = server ? await server.ladder.record.mutate(climbed) : null;
    screen.answer(climbed, () => [
      ...ladderLines(screen, climbed),
      ...(recorded ? [`  Recorded as ${recorded.id}; the page Ladders shows it.`, ""] : []),
    ]);
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    throw new Failure(ExitCode.interrupted, "INTERRUPTED", "Interrupted. Nothing was recorded.");
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    await door.close();
  }
}

async function climb(
  { screen }: Context,
  door: Door,
  options: LadderOptions,
  { texts, sha256 }: Prompts,
): Promise<Ladder> {
  const at = new Date().toISOString();
  const model = await chooseModel(door, options.model);
  const engine = await door.engineName();
  screen.note(`asking ${model} alone, ${texts.length} prompts twice`);
  const golden = await takeGolden(door, model, texts, options.maxTokens);
  const plan = { model, prompts: texts, maxTokens: options.maxTokens, golden };
  const rungs: LadderRung[] = [];
  let rule: LadderRule | null = null;
  for (const clients of rungsOf(options)) {
    // Elsewhere than on a terminal the line of each rung is progress enough.
    const view = screen.interactive ? new ProgressView(screen) : null;
    const answered = (done: number, of: number) =>
      view?.update({ stage: `${clients}`, percent: (100 * done) / of, rate: null, unit: null });
    const found = await runRung(door, clients, { ...plan, answered }).finally(() => view?.stop());
    const canary = await sendCanary(door, golden, plan);
    const rung = { ...found.rung, broke: brokenRules(found, golden, options, canary) };
    rungs.push(rung);
    screen.emit({ v: 1, type: "rung", at: new Date().toISOString(), ...rung });
    if (!screen.json) screen.say(rungLine(rung));
    rule = stoppingRule(rung.broke, golden.development);
    if (rule !== null) break;
  }
  const last = rungs.at(-1)?.clients ?? options.from;
  return Ladder.parse({
    v: 1,
    type: "ladder",
    at,
    finished_at: new Date().toISOString(),
    gateway: options.gateway,
    model,
    served_by: golden.servedBy,
    engine,
    development: golden.development,
    load: { prompts: texts.length, prompts_sha256: sha256, max_tokens: options.maxTokens },
    alone: golden.alone,
    max_itl_ratio: options.maxItlRatio,
    max_memory_bytes: options.maxMemoryBytes,
    targets: options.targets,
    rungs,
    stopped: rule === null ? null : { clients: last, rule },
  } satisfies Ladder);
}

async function chooseModel(door: Door, wanted: string | null): Promise<string> {
  const served = await door.models();
  const names = served.map(({ id }) => id);
  if (wanted !== null) {
    if (names.includes(wanted)) return wanted;
    throw new Failure(
      ExitCode.unreadable,
      "MODEL_UNKNOWN",
      `The gateway does not serve ${wanted}. It serves ${names.join(", ") || "nothing"}.`,
    );
  }
  const chosen = served.find(({ pilot }) => pilot !== null)?.pilot ?? names[0];
  if (chosen === undefined) throw new Failure(1, "GATEWAY_NOT_READY", "The gateway serves no model yet.");
  return chosen;
}

/** One request alone, after a rung: what is wrong with its answer, or null. */
async function sendCanary(
  door: Door,
  golden: Golden,
  plan: { model: string; prompts: string[]; maxTokens: number },
): Promise<string | null> {
  const answer = await door.ask(plan.model, plan.prompts[0] ?? "", plan.maxTokens);
  if (answer.kind !== "complete") return `the request sent alone afterwards: ${answer.message}`;
  return answer.text === golden.texts[0]
    ? null
    : "the request sent alone afterwards got another answer than before";
}
