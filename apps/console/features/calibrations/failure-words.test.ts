import { expect, it } from "vitest";
import { mayRetryHelp, nextStep, pageWords } from "./failure-words";

const failed = (code: string, exitCode: number | null) => ({ code, message: "", exitCode });

it("offers no retry where the same would end the same", () => {
  for (const exitCode of [2, 3, 5]) expect(mayRetryHelp(failed("X", exitCode))).toBe(false);
  expect(mayRetryHelp(failed("PROBES_BLIND", 1))).toBe(false);
  expect(mayRetryHelp(failed("IDENTITY_MISSED", 1))).toBe(false);
  expect(mayRetryHelp(failed("MACHINERY_FAILED", 1))).toBe(true);
  expect(mayRetryHelp(failed("DISK_SHORT", 6))).toBe(true);
  expect(mayRetryHelp(null)).toBe(true);
  expect(nextStep(failed("CORPUS_UNREADABLE", 5))).toContain("Clone it with edits");
  expect(nextStep(failed("DISK_SHORT", 6))).toContain("then retry");
});

it("says the dialog's words for the command line's, the longest first", () => {
  expect(pageWords("no text in it: name another with --corpus-column")).toBe(
    "no text in it: name another with the field Column",
  );
  expect(pageWords("give their folder as --corpus, or --seq-len 64")).toBe(
    "give their folder as the field Corpus, or the field Sequence length 64",
  );
  expect(pageWords("a -- dash and --unknown-flag stay")).toBe("a -- dash and --unknown-flag stay");
});
