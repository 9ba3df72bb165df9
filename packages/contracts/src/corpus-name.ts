import { z } from "zod";

/** Names of our own for data sets of the hub; packages/kv's corpora/name.py says which ones they are. */
export const HUB_ALIASES = ["fineweb-edu"] as const;

const PART = "[A-Za-z0-9][A-Za-z0-9._-]{0,95}";
const REVISION = "@[A-Za-z0-9][A-Za-z0-9._/-]{0,127}";
const HUB = `hub:${PART}/${PART}(?:/${PART})?(?:${REVISION})?|(?:${HUB_ALIASES.join("|")})(?:${REVISION})?`;
const LOCAL = `${PART}(?:/${PART}){0,3}`;
const NAME = new RegExp(`^(?:${LOCAL}|${HUB})$`);
const OF_HUB = new RegExp(`^(?:${HUB})$`);

/** How a corpus is named, for people. */
export const CORPUS_FORMS =
  "bundled, fineweb-edu, hub:owner/name[/config][@revision], or a file or folder of the worker's corpora folder";

/**
 * A corpus as console, command line and server name it: something under the worker's own folder, or a data set of the
 * one hub that the worker's operator allows. Which of them a worker has is the worker's to say.
 */
export const CorpusName = z
  .string()
  .max(300)
  .regex(NAME, `A corpus is ${CORPUS_FORMS}.`)
  .refine((name) => !name.includes(".."), "A corpus's name does not climb.");
export type CorpusName = z.infer<typeof CorpusName>;

export function isHubCorpus(name: string): boolean {
  return OF_HUB.test(name) && !name.includes("..");
}

/** The column of a .jsonl or .parquet corpus that holds its text or messages. */
export const CorpusColumn = z
  .string()
  // Pages show commands that hold it, for a shell to run: nothing in it may mean anything to one.
  .regex(
    /^[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,79}$/u,
    "A column is named by up to 80 letters, digits, _, . and -.",
  );
