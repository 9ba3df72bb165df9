import { ExitCode } from "@helm/contracts";

/** A failure that a person is told in one line, with the next step in it, and a program by its exit code. */
export class Failure extends Error {
  override name = "Failure";
  constructor(
    readonly exitCode: number,
    readonly code: string,
    message: string,
    /** Further lines, a cause each. */
    readonly lines: string[] = [],
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
  }
}

export function usage(message: string): Failure {
  return new Failure(ExitCode.usage, "USAGE", message);
}
