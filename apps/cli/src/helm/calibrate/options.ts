import {
  type CalibrationOptions,
  type CalibrationRoom,
  CorpusColumn,
  DEFAULT_GATE,
  LONGEST_SEQ_LEN,
  METHODS,
  MethodChoice,
} from "@helm/contracts";
import { usage } from "../../failure";

export interface CalibrateOptions {
  sourceModel: string;
  targetModel: string;
  corpus: string;
  k: number;
  method: MethodChoice;
  device: "auto" | "cuda" | "rocm" | "cpu";
  gate: number | undefined;
  out: string | undefined;
  local: boolean;
  wait: boolean;
  /** Beside the engines of the worker's machine, or after its nodes were drained; on a server. */
  room: CalibrationRoom;
  acceptNoServing: boolean;
  /** What the job is asked for beside its named options, here or through a server. */
  options: CalibrationOptions;
  threads: number | undefined;
}

export type RawOptions = Record<string, string | boolean | undefined>;

const DEVICES = ["auto", "cuda", "rocm", "cpu"] as const;
/** Errors: usage, one line that says what is wrong and what is right. */
export function readOptions(raw: RawOptions): CalibrateOptions {
  const device = DEVICES.find((name) => name === raw.device);
  if (!device) throw usage(`--device ${raw.device} is not one of ${DEVICES.join(", ")}.`);
  const method = MethodChoice.safeParse(raw.method ?? "default");
  if (!method.success) {
    throw usage(`--method ${raw.method} is not one of ${["default", ...Object.keys(METHODS)].join(", ")}.`);
  }
  return {
    sourceModel: required("--source-model", raw.sourceModel),
    targetModel: required("--target-model", raw.targetModel),
    corpus: required("--corpus", raw.corpus),
    k: whole("--k", String(raw.k), 1),
    method: method.data,
    device,
    gate: raw.gate === undefined ? undefined : readGate(String(raw.gate)),
    out: text(raw.out),
    local: raw.local === true,
    wait: raw.wait !== false,
    ...roomOf(raw),
    options: jobOptions(raw),
    threads: count("--threads", raw.threads, 1),
  };
}

function roomOf(raw: RawOptions): Pick<CalibrateOptions, "room" | "acceptNoServing"> {
  const acceptNoServing = raw.acceptNoServing === true;
  if (acceptNoServing && raw.drain !== true) throw usage("--accept-no-serving goes with --drain.");
  return { room: raw.drain === true ? "drain" : "beside", acceptNoServing };
}

export function gateOf(options: CalibrateOptions): number {
  return options.gate ?? DEFAULT_GATE;
}

function jobOptions(raw: RawOptions): CalibrationOptions {
  const options: CalibrationOptions = {
    sequences: count("--sequences", raw.sequences, 1),
    seq_len: count("--seq-len", raw.seqLen, 1, LONGEST_SEQ_LEN),
    seed: count("--seed", raw.seed, 0),
    ...(raw.corpusColumn !== undefined && { corpus_column: column(raw.corpusColumn) }),
    ...(raw.long === true && { long: true }),
  };
  return options;
}

function count(name: string, given: RawOptions[string], least: number, most?: number): number | undefined {
  return given === undefined ? undefined : whole(name, String(given), least, most);
}

function column(given: string | boolean): string {
  const parsed = CorpusColumn.safeParse(given);
  if (!parsed.success) throw usage(`--corpus-column: ${parsed.error.issues[0]?.message}`);
  return parsed.data;
}

function readGate(given: string): number {
  const gate = given.trim() === "" ? Number.NaN : Number(given);
  if (!(gate > 0 && gate <= 1)) throw usage(`--gate ${given} is outside (0, 1]. Give a share such as 0.90.`);
  return gate;
}

function whole(name: string, given: string, least: number, most = Number.MAX_SAFE_INTEGER): number {
  const value = Number(given);
  if (!/^\d+$/.test(given) || value < least || !Number.isSafeInteger(value)) {
    throw usage(`${name} ${given} is no whole number from ${least} on.`);
  }
  if (value > most) throw usage(`${name} ${given} is more than ${most}, the most that is taken.`);
  return value;
}

function required(name: string, value: string | boolean | undefined): string {
  const found = text(value);
  if (found === undefined) throw usage(`${name} is missing or empty.`);
  return found;
}

function text(value: string | boolean | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
