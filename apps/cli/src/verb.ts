import type { Command } from "commander";
import type { Context } from "./context";

/** A verb that resolves to a number gives the exit code; any other has succeeded. */
export type Verb = (
  context: Context,
  args: string[],
  options: Record<string, string | boolean | undefined>,
) => Promise<unknown>;

/** Adds a verb with `--json` to a noun; the files of the nouns get it from the program. */
export type AddVerb = (parent: Command, usage: string, description: string, run: Verb) => Command;
