import { ExitCode } from "@helm/contracts";
import { CommanderError } from "commander";
import { Failure, usage } from "./failure";
import { createProgram } from "./program";
import { isServerError, toFailure } from "./server/client";

/** The exit code; everything to be said has been said. */
async function main(argv: string[]): Promise<number> {
  let exitCode = 0;
  const program = createProgram((code) => {
    exitCode = code;
  });
  try {
    refuseRepeated(argv);
    await program.parseAsync(argv);
    return exitCode;
  } catch (error) {
    // Commander has printed its own line; asking for help is no error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : failedUsage(argv, error);
    const failure =
      error instanceof Failure ? error : isServerError(error) ? toFailure(error) : unexpected(error);
    tell(failure, argv.includes("--json"));
    return failure.exitCode;
  }
}

/** The last of two values would win in silence. Errors: usage. */
function refuseRepeated(argv: string[]): void {
  const end = argv.indexOf("--");
  const names = (end < 0 ? argv : argv.slice(0, end))
    .filter((word) => /^--[a-z]/.test(word))
    .map((word) => word.split("=")[0]);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) throw usage(`${twice} is given twice. Give it once.`);
}

function tell(failure: Failure, json: boolean): void {
  process.stderr.write(`lifeboat: ${failure.message}\n${failure.lines.map((line) => `${line}\n`).join("")}`);
  if (json)
    process.stdout.write(
      `${JSON.stringify(failedEvent(failure.code, failure.message, failure.exitCode, failure.details))}\n`,
    );
}

function failedUsage(argv: string[], error: CommanderError): number {
  if (argv.includes("--json")) {
    process.stdout.write(
      `${JSON.stringify(failedEvent("USAGE", error.message.replace(/^error: /, ""), ExitCode.usage, {}))}\n`,
    );
  }
  return ExitCode.usage;
}

function failedEvent(code: string, message: string, exitCode: number, details: Record<string, unknown>) {
  return {
    v: 1,
    at: new Date().toISOString(),
    ...details,
    type: "failed",
    code,
    message,
    exit_code: exitCode,
  };
}

function unexpected(error: unknown): Failure {
  return new Failure(1, "UNEXPECTED", error instanceof Error ? error.message : String(error));
}

// Standard output may be a closed pipe (lifeboat ... | head): that is the reader's choice, no failure of ours.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});
process.exitCode = await main(process.argv);
