import { ExitCode } from "@helm/contracts";

type Failure = { code: string; message: string; exitCode: number | null };

/** Exit codes of what lies in what was asked for, or in the models: the same again ends the same. */
const ASKED: ReadonlySet<number | null> = new Set([
  ExitCode.usage,
  ExitCode.impossiblePair,
  ExitCode.unreadable,
]);
/** Ends of a score that the same probes and the same fit bring about again. */
const SCORED = new Set(["PROBES_TOO_SHORT", "PROBES_BLIND", "IDENTITY_MISSED", "SELF_MAP_MISSED"]);

/** Whether the same run once more may end otherwise; where not, editing it is the next step. */
export function mayRetryHelp(error: Failure | null): boolean {
  return error === null || !(ASKED.has(error.exitCode) || SCORED.has(error.code));
}

/** What to do about it, beside the buttons. */
export function nextStep(error: Failure | null): string | null {
  if (error === null) return null;
  if (!mayRetryHelp(error))
    return "The same run would end the same way. Clone it with edits: what was asked for has to change.";
  if (error.code === "DRAIN_TIMEOUT")
    return "Look on the page Nodes and workers at what runs there, then retry; or clone the run beside the engines.";
  if (error.exitCode === ExitCode.resources) return "Make room, or ask for less, then retry.";
  return null;
}

const FIELDS: Record<string, string> = {
  "--corpus-column": "the field Column",
  "--corpus": "the field Corpus",
  "--method": "the field Method",
  "--device": "the field Device",
  "--k": "the field k",
  "--sequences": "the field Sequences",
  "--seq-len": "the field Sequence length",
  "--seed": "the field Seed",
  "--accept-no-serving": "the box below the choice of room",
  "--long": "the box for 32 times the fitted length",
};

/** A message of the job, whose words are the command line's, in the words of the Calibrate dialog. */
export function pageWords(message: string): string {
  return message.replace(/--[a-z]+(?:-[a-z]+)*/g, (flag) => FIELDS[flag] ?? flag);
}
