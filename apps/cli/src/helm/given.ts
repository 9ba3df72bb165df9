import { usage } from "../failure";

/** Values as they are written on a command line. Errors: usage, with what would do. */
export function numberOf(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw usage(`${text} is no number.`);
  return value;
}

export function wholeOf(text: string): number {
  const value = numberOf(text);
  if (!Number.isInteger(value)) throw usage(`${text} is no whole number.`);
  return value;
}

export function flag(text: string): boolean {
  const word = pick(text, ["yes", "no", "true", "false", "on", "off"] as const);
  return word === "yes" || word === "true" || word === "on";
}

export function pick<W extends string>(text: string, words: readonly W[]): W {
  const found = words.find((word) => word === text);
  if (found) return found;
  throw usage(`${text} is none of ${words.join(", ")}.`);
}

/** "90", "90s", "15m", "24h", "7d" in seconds. */
export function secondsOf(text: string): number {
  const match = /^(\d+)([smhd]?)$/.exec(text);
  const unit = { "": 1, s: 1, m: 60, h: 3_600, d: 86_400 }[match?.[2] ?? ""] ?? 1;
  if (!match) throw usage(`${text} is no time such as 90s, 15m, 24h or 7d.`);
  return Number(match[1]) * unit;
}

export function optionalRevision(given: string | boolean | undefined): number | undefined {
  return typeof given === "string" ? wholeOf(given) : undefined;
}

/** The revision a script saw, else what stands now; a change in between is reported and never retried. */
export async function revisionOf(
  given: number | undefined,
  read: () => Promise<{ revision: number }>,
): Promise<number> {
  return given ?? (await read()).revision;
}
