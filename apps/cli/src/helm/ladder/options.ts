import type { LadderTarget } from "@helm/contracts";
import { usage } from "../../failure";

export type RawOptions = Record<string, string | boolean | undefined>;

export interface LadderOptions {
  gateway: string;
  /** Null: the pilot of the gateway's first route, else the first model it serves. */
  model: string | null;
  from: number;
  to: number;
  maxTokens: number;
  /** A file with a prompt a line; null: the built-in ones. */
  prompts: string | null;
  maxItlRatio: number;
  maxMemoryBytes: number | null;
  timeoutMs: number;
  targets: LadderTarget[];
  record: boolean;
}

const MOST_CLIENTS = 65_536;
const UNITS: Record<string, number> = { "": 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** Errors: usage, one line that says what is wrong and what is right. */
export function readOptions(raw: RawOptions): LadderOptions {
  const from = wholeNumber("--from", raw.from, 1, MOST_CLIENTS);
  const to = wholeNumber("--to", raw.to, 1, MOST_CLIENTS);
  if (to < from) throw usage(`--to ${to} lies below --from ${from}.`);
  const gateway = String(raw.gateway);
  if (!URL.canParse(gateway) || !/^https?:$/.test(new URL(gateway).protocol))
    throw usage(`--gateway ${gateway} is no address such as http://127.0.0.1:8000.`);
  return {
    gateway: new URL(gateway).href.replace(/\/+$/, ""),
    model: textOf(raw.model),
    from,
    to,
    maxTokens: wholeNumber("--max-tokens", raw.maxTokens, 1, 100_000),
    prompts: textOf(raw.prompts),
    maxItlRatio: decimal("--max-itl-ratio", raw.maxItlRatio, 1),
    maxMemoryBytes: raw.maxMemory === undefined ? null : bytes(String(raw.maxMemory)),
    timeoutMs: 1000 * wholeNumber("--timeout", raw.timeout, 1, 86_400),
    targets: targetsOf(textOf(raw.targets)),
    record: raw.record === true,
  };
}

/** Clients by doubling, with `to` as the last rung. */
export function rungsOf({ from, to }: Pick<LadderOptions, "from" | "to">): number[] {
  const rungs: number[] = [];
  for (let clients = from; clients < to; clients *= 2) rungs.push(clients);
  return [...rungs, to];
}

function targetsOf(given: string | null): LadderTarget[] {
  if (given === null) return [];
  const targets = given.split(",").map((part) => {
    const match = /^\s*(\d{1,5})=(\d+(?:\.\d+)?)\s*$/.exec(part);
    const [clients, rate] = [Number(match?.[1]), Number(match?.[2])];
    if (!match || clients < 1 || !(rate > 0))
      throw usage(
        `--targets ${given} is no list such as 64=20,2048=85.9: clients, and correct answers a second.`,
      );
    return { clients, requests_per_second: rate };
  });
  if (new Set(targets.map(({ clients }) => clients)).size < targets.length)
    throw usage(`--targets ${given} names a rung twice.`);
  return targets;
}

function wholeNumber(name: string, given: unknown, least: number, most: number): number {
  const value = Number(given);
  if (!/^\d{1,9}$/.test(String(given)) || value < least || value > most)
    throw usage(`${name} ${given} is no whole number from ${least} to ${most}.`);
  return value;
}

function decimal(name: string, given: unknown, least: number): number {
  const value = Number(given);
  if (!/^\d+(\.\d+)?$/.test(String(given)) || value < least)
    throw usage(`${name} ${given} is no number from ${least} on.`);
  return value;
}

function bytes(given: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(KiB|MiB|GiB)?$/.exec(given);
  const value = Math.floor(Number(match?.[1]) * (UNITS[match?.[2] ?? ""] ?? 1));
  if (!match || value < 1) throw usage(`--max-memory ${given} is no size such as 2GiB.`);
  return value;
}

function textOf(given: string | boolean | undefined): string | null {
  return typeof given === "string" && given !== "" ? given : null;
}
