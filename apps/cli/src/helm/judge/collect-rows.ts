import { readFile } from "node:fs/promises";
import { ExitCode, JudgeRow } from "@helm/contracts";
import { locatePython } from "@helm/host";
import { z } from "zod";
import type { Context } from "../../context";
import { Failure } from "../../failure";
import { died, noteUnreadable, runJob, sentence } from "../job/run";

const Line = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("judge_rows"), rows: z.array(JudgeRow) }),
  z.looseObject({ type: z.literal("log"), message: z.string() }),
  z.looseObject({
    type: z.literal("failed"),
    code: z.string(),
    message: z.string(),
    exit_code: z.number().int(),
  }),
]);

/** Lets both models answer on this host. Errors: Failure with the job's own code and sentence. */
export async function collectRows(context: Context, args: string[]): Promise<JudgeRow[]> {
  const rows: JudgeRow[] = [];
  let failed: { code: string; message: string; exit_code: number } | null = null;
  const { exit, log } = await runJob(context, locatePython(context.config.python), {
    args: ["judge-rows", ...args],
    take: (line, view, words) => {
      const event = Line.safeParse(line).data;
      if (!event) return noteUnreadable(line, words);
      if (event.type === "judge_rows") rows.push(...event.rows);
      if (event.type === "failed") failed = event;
      const [, done, of] = event.type === "log" ? (/^(\d+) of (\d+) /.exec(event.message) ?? []) : [];
      if (done && of)
        view.update({ stage: "judge", percent: (100 * Number(done)) / Number(of), rate: null, unit: null });
    },
    interrupted: "Nothing was fitted.",
  });
  const why = failed as { code: string; message: string; exit_code: number } | null;
  if (why) throw new Failure(why.exit_code, why.code, sentence(why.message));
  if (exit.code !== 0) throw died(exit, log);
  return rows;
}

/** Labelled answers, one JSON object a line. Errors: Failure 5 with the first line that is none. */
export async function readRows(file: string): Promise<JudgeRow[]> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw unreadable(`${file} cannot be read (${error.code}). Name a file of labelled answers.`);
  });
  const rows: JudgeRow[] = [];
  for (const [at, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const value = parse(line);
    if (value === undefined)
      throw unreadable(`${file}, line ${at + 1}, is no JSON. docs/judge.md shows the fields.`);
    const row = JudgeRow.safeParse(value);
    if (!row.success) {
      const issue = row.error.issues[0];
      const where = issue?.path.length ? `${issue.path.join(".")}: ` : "";
      throw unreadable(`${file}, line ${at + 1}: ${where}${issue?.message}. docs/judge.md shows the fields.`);
    }
    rows.push(row.data);
  }
  if (rows.length === 0)
    throw unreadable(`${file} holds no labelled answer. docs/judge.md shows the fields.`);
  return rows;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function unreadable(message: string): Failure {
  return new Failure(ExitCode.unreadable, "ROWS_UNREADABLE", message);
}
