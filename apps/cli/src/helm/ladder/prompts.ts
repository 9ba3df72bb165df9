import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { ExitCode } from "@helm/contracts";
import { Failure } from "../../failure";

/** Short and of different lengths, so that rows of one batch are not alike. */
const BUILT_IN = [
  "sort: 7 3 9 1",
  "Name the planets of the solar system in their order from the sun.",
  "reverse: stone",
  "Write one sentence about the sea, and one about the mountains behind it.",
  "What is the capital of France? Answer with one word.",
  "List five animals that can fly, five that can swim, and five that do neither, each on a line of its own.",
  "12 + 30 =",
  "Explain in two sentences why the sky is blue at noon and red in the evening.",
];
const MOST = 10_000;

export interface Prompts {
  texts: string[];
  sha256: string;
}

/** The built-in prompts, or a file's lines. Errors: Failure 5. */
export async function readPrompts(file: string | null): Promise<Prompts> {
  const texts = file === null ? BUILT_IN : await linesOf(file);
  return { texts, sha256: createHash("sha256").update(JSON.stringify(texts)).digest("hex") };
}

async function linesOf(file: string): Promise<string[]> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw unreadable(file, `cannot be read (${error.code})`);
  });
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter(Boolean);
  if (lines.length === 0) throw unreadable(file, "holds no prompt");
  if (lines.length > MOST) throw unreadable(file, `holds more than ${MOST} prompts`);
  return lines;
}

function unreadable(file: string, why: string): Failure {
  return new Failure(
    ExitCode.unreadable,
    "PROMPTS_UNREADABLE",
    `${file} ${why}. Give a text file with a prompt a line.`,
  );
}
