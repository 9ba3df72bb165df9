import {
  type Assessment,
  type BreakEven,
  type CostPoint,
  DEFAULT_GATE,
  missesStricterOnly,
} from "@helm/contracts";
import { count, milliseconds, share } from "../../ui/numbers";
import { longestMeasured } from "./cost-points";
import { rescueInterval, rescueText } from "./gain-words";

export type Answer = {
  question: string;
  answer: string;
  rest: string;
  tone: "good" | "warn" | "bad" | "plain";
};

export type Glanced = {
  assessment: Assessment;
  cost: CostPoint[];
  breakEven: BreakEven | null;
  gateLooks: number;
  control: boolean;
  developmentOnly: boolean;
  device: string;
};

/** What a person wants to know first of a run, each in a few words. */
export function answersOf(run: Glanced): Answer[] {
  return [mayUse(run), howSure(run), whatItSaves(run), whyRefused(run), refitting(run)].filter(
    (answer) => answer !== null,
  );
}

function mayUse({ assessment, control, developmentOnly }: Glanced): Answer {
  const { failure, verdict, gate, gate_on: on, retention, warnings } = assessment;
  const question = "May it be used?";
  if (failure) return { question, answer: "No verdict", rest: failure.code, tone: "bad" };
  const compared = on === "lower" ? retention.low : retention.value;
  const word = on === "lower" ? "lower bound" : "value";
  const gateWords = `${word} ${besides(compared, gate)} against the gate of ${gateText(gate)}`;
  if (verdict === "BELOW_GATE")
    return {
      question,
      answer: "No, below the gate",
      rest: `${gateWords}: never used for transfer`,
      tone: "warn",
    };
  if (control) return { question, answer: "As a control", rest: gateWords, tone: "good" };
  const unrouted = warnings.some((code) => code === "NOT_ABOVE_PILOT" || code === "TARGET_NOT_BETTER");
  const rest = unrouted ? `${gateWords}; not above the pilot, so not routed by default` : gateWords;
  return developmentOnly
    ? { question, answer: "On development nodes", rest: `${rest}; measured on a CPU`, tone: "warn" }
    : { question, answer: unrouted ? "Cleared, not routed" : "Yes", rest, tone: unrouted ? "warn" : "good" };
}

function howSure({ assessment, gateLooks }: Glanced): Answer {
  const { retention, report } = assessment;
  const looks = gateLooks > 0 ? `; attempt ${gateLooks} on these probes` : "";
  const untouched = report ? `; report split ${share(report.retention)}` : "";
  return {
    question: "How sure is that?",
    answer: `${share(retention.low)} to ${share(retention.high)}`,
    rest: `95 % interval of ${share(retention.value)} over ${count(retention.n)} sequences, ${count(retention.positions)} positions${untouched}${looks}`,
    tone: assessment.warnings.includes("GATE_OVERFITTED") ? "warn" : "plain",
  };
}

/** The longest prefix that the gate's own rows reach, by the labels of the prefix lengths ("256-511"); null where none are told. */
function lengthOfTheGate({ by_prefix: prefixes }: Assessment): number | null {
  const ends = Object.keys(prefixes ?? {}).map((label) => Number(label.split("-")[1]) + 1);
  return ends.length > 0 ? Math.max(...ends) : null;
}

/** Where prompts longer than the gate's fall below it, the saving there is none to be had. */
function beyondTheGate({ long, gate }: Assessment): string {
  const missed = (long ?? []).filter(({ arms }) => arms.mapper && arms.mapper.low < gate);
  if (missed.length === 0) return "";
  const said = missed.map(
    ({ multiple, arms }) => `${share(arms.mapper?.low ?? 0)} at ${count(multiple)} times that length`,
  );
  return `; longer prompts keep less than the gate asks (lower bound ${said.join(", ")})`;
}

function whatItSaves({ assessment, cost, breakEven, device }: Glanced): Answer {
  const question = "What would it save?";
  const reach = lengthOfTheGate(assessment);
  const within = reach === null ? cost : cost.filter((point) => point.tokens <= reach);
  const longest = longestMeasured(within) ?? longestMeasured(cost);
  if (!longest) return { question, answer: "Not measured", rest: "this run measured no cost", tone: "plain" };
  const { tokens, target, transfer } = longest;
  const from = breakEven?.transfer ?? null;
  const rest = `by this run's cost curve, each node measures its own: ${milliseconds(transfer)} instead of ${milliseconds(target)} of prefill at ${count(tokens)} tokens, given that the pilot has answered; on ${device}${beyondTheGate(assessment)}`;
  if (from === null)
    return { question, answer: "Nothing yet", rest: `a transfer never paid: ${rest}`, tone: "warn" };
  const tone = assessment.verdict === "CLEARED" ? "good" : "plain";
  return { question, answer: `Pays from ${count(from)} tokens`, rest, tone };
}

/** What the gate misses, and where the most of it is lost; null for what was not refused. */
function whyRefused({ assessment }: Glanced): Answer | null {
  const { failure, verdict, gate, gate_on: on, retention } = assessment;
  const question = "Why was it refused?";
  if (failure) return { question, answer: failure.code, rest: failure.message, tone: "bad" };
  if (verdict !== "BELOW_GATE") return null;
  const compared = on === "lower" ? retention.low : retention.value;
  const worst = worstPart(assessment);
  const where = worst ? `; weakest: ${worst.name} at ${share(worst.value)}` : "";
  const own =
    gate > DEFAULT_GATE ? `a stricter gate than the default of ${gateText(DEFAULT_GATE)}` : "the gate";
  return {
    question,
    answer: `${(100 * (gate - compared)).toFixed(1)} points short`,
    rest: `of ${own}, on the ${on === "lower" ? "lower bound" : "value"}${where}`,
    tone: "warn",
  };
}

const POSITIONS = { first: "the 1st token", early: "tokens 2 to 16", late: "tokens 17 to 64" } as const;

function worstPart({ retention, by_domain: domains, by_prefix: prefixes }: Assessment) {
  const parts = [
    ...(["first", "early", "late"] as const).map((key) => ({
      name: POSITIONS[key],
      value: retention.buckets[key],
    })),
    ...Object.entries(domains).map(([name, score]) => ({ name: `${name} probes`, value: score.retention })),
    ...Object.entries(prefixes ?? {}).map(([name, score]) => ({
      name: `prefixes of ${name} tokens`,
      value: score.retention,
    })),
  ];
  return parts.reduce<(typeof parts)[number] | null>(
    (worst, part) => (worst && worst.value <= part.value ? worst : part),
    null,
  );
}

function refitting({ assessment, control }: Glanced): Answer {
  const { failure, verdict, diagnosis, net_rescue: rescue } = assessment;
  const question = "Is refitting worth it?";
  if (failure)
    return {
      question,
      answer: "Not yet",
      rest: "a control or the probes failed: mend that first",
      tone: "bad",
    };
  if (verdict === "CLEARED") {
    const gain =
      control || !rescue ? "" : `; net rescue ${rescueText(rescue)} positions (${rescueInterval(rescue)})`;
    return { question, answer: "Not for the gate", rest: `it is cleared${gain}`, tone: "plain" };
  }
  if (missesStricterOnly(assessment))
    return {
      question,
      answer: "For the stricter gate only",
      rest: `it clears the default gate of ${gateText(DEFAULT_GATE)}: neither a wrong map nor a sensitive target; compare methods, k or more data`,
      tone: "plain",
    };
  switch (diagnosis?.code) {
    case "MAP_WRONG":
      return { question, answer: "It may be", rest: "the cosine is low: the map is wrong", tone: "warn" };
    case "TARGET_SENSITIVE":
      return {
        question,
        answer: "No",
        rest: "the cosine is high and the answers differ: this target is sensitive",
        tone: "warn",
      };
    default:
      return {
        question,
        answer: "Not told",
        rest: "the cosine shows neither cause: compare methods",
        tone: "plain",
      };
  }
}

/** Two decimals, or all that it has. */
function gateText(gate: number): string {
  return gate.toString().length > 4 ? gate.toString() : gate.toFixed(2);
}

/** Three places, and more where they would put it on the gate's other side. */
export function besides(value: number, gate: number): string {
  for (let places = 3; places < 12; places++) {
    const text = value.toFixed(places);
    if (Number(text) >= gate === value >= gate) return text;
  }
  return String(value);
}
