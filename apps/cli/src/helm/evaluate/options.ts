import { usage } from "../../failure";

export type RawOptions = Record<string, string | boolean | undefined>;

export interface EvaluateOptions {
  sourceModel: string;
  targetModel: string;
  /** A mapper's digest, its folder or its file. */
  mapper: string;
  tasks: string[];
  data: string | undefined;
  device: "auto" | "cuda" | "rocm" | "cpu";
  record: boolean;
  /** Options that only the Python job knows, as it spells them. */
  passed: string[];
}

const DEVICES = ["auto", "cuda", "rocm", "cpu"] as const;
const NUMBERS = { limit: 1, "num-fewshot": 0, "max-length": 16, threads: 1 } as const;

/** Errors: usage, one line that says what is wrong and what is right. */
export function readOptions(raw: RawOptions): EvaluateOptions {
  const device = DEVICES.find((name) => name === raw.device);
  if (!device) throw usage(`--device ${raw.device} is not one of ${DEVICES.join(", ")}.`);
  const tasks = String(raw.tasks)
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
  const wrong = tasks.find((name) => !/^[a-z0-9_]{1,100}$/.test(name));
  if (tasks.length === 0 || wrong !== undefined)
    throw usage(`--tasks ${raw.tasks} is no list of names such as helm_bundled,arc_challenge.`);
  if (new Set(tasks).size < tasks.length) throw usage(`--tasks ${raw.tasks} names a task twice.`);
  return {
    sourceModel: required("--source-model", raw.sourceModel),
    targetModel: required("--target-model", raw.targetModel),
    mapper: required("--mapper", raw.mapper),
    tasks,
    data: typeof raw.data === "string" ? raw.data : undefined,
    device,
    record: raw.record === true,
    passed: Object.entries(NUMBERS).flatMap(([name, least]) => passedNumber(name, least, raw)),
  };
}

function passedNumber(name: string, least: number, raw: RawOptions): string[] {
  const given = raw[name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())];
  if (given === undefined) return [];
  const value = Number(given);
  if (!/^\d{1,9}$/.test(String(given)) || value < least)
    throw usage(`--${name} ${given} is no whole number from ${least} on.`);
  return [`--${name}`, String(value)];
}

function required(name: string, value: string | boolean | undefined): string {
  if (typeof value === "string" && value !== "") return value;
  throw usage(`${name} is missing or empty.`);
}
