import { DEFAULT_GATE } from "@helm/pairing";
import { usage } from "../../failure";

export interface CalibrateOptions {
  sourceModel: string;
  targetModel: string;
  corpus: string;
  k: number;
  method: string | undefined;
  device: "auto" | "cuda" | "rocm" | "cpu";
  gate: number | undefined;
  out: string | undefined;
  local: boolean;
  wait: boolean;
  /** Options that only the Python job knows, as it spells them. */
  passed: string[];
}

export type RawOptions = Record<string, string | boolean | undefined>;

const DEVICES = ["auto", "cuda", "rocm", "cpu"] as const;
const PASSED = ["sequences", "seq-len", "seed", "threads"] as const;

/** Errors: usage, one line that says what is wrong and what is right. */
export function readOptions(raw: RawOptions): CalibrateOptions {
  const device = DEVICES.find((name) => name === raw.device);
  if (!device) throw usage(`--device ${raw.device} is not one of ${DEVICES.join(", ")}.`);
  const method = text(raw.method);
  if (method !== undefined && !/^[a-z0-9][a-z0-9_-]{0,39}$/.test(method)) {
    throw usage(`--method ${method} is no method's name, such as ridge.`);
  }
  const passed = PASSED.flatMap((name) => {
    const value = text(raw[name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())]);
    return value === undefined
      ? []
      : [`--${name}`, String(whole(`--${name}`, value, name === "seed" ? 0 : 1))];
  });
  return {
    sourceModel: required("--source-model", raw.sourceModel),
    targetModel: required("--target-model", raw.targetModel),
    corpus: required("--corpus", raw.corpus),
    k: whole("--k", String(raw.k), 1),
    method,
    device,
    gate: raw.gate === undefined ? undefined : readGate(String(raw.gate)),
    out: text(raw.out),
    local: raw.local === true,
    wait: raw.wait !== false,
    passed,
  };
}

export function gateOf(options: CalibrateOptions): number {
  return options.gate ?? DEFAULT_GATE;
}

function readGate(given: string): number {
  const gate = given.trim() === "" ? Number.NaN : Number(given);
  if (!(gate > 0 && gate <= 1)) throw usage(`--gate ${given} is outside (0, 1]. Give a share such as 0.90.`);
  return gate;
}

function whole(name: string, given: string, least: number): number {
  const value = Number(given);
  if (!/^\d+$/.test(given) || value < least || !Number.isSafeInteger(value)) {
    throw usage(`${name} ${given} is no whole number from ${least} on.`);
  }
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
