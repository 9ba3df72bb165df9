import type { Command } from "commander";
import type { Context } from "../context";
import { usage } from "../failure";
import type { AddVerb } from "../verb";

type Options = Record<string, string | boolean | undefined>;
type Run = (context: Context, source: string, target: string, options: Options) => Promise<unknown>;

/** Adds a verb about one pair, whose models may be named by place or by the options that `calibrate` has. */
export function addPairVerb(
  verb: AddVerb,
  parent: Command,
  name: string,
  description: string,
  run: Run,
): Command {
  const path = `lifeboat helm ${parent.name()} ${name}`;
  return verb(parent, `${name} [source] [target]`, description, (context, [source, target], options) => {
    const models = {
      source: one("source", source, options.sourceModel),
      target: one("target", target, options.targetModel),
    };
    if (!models.source || !models.target)
      throw usage(`Name both models: ${path} ${models.source ?? "SOURCE"} ${models.target ?? "TARGET"}`);
    return run(context, models.source, models.target, options);
  })
    .option("--source-model <model>", "the source, in place of the first argument")
    .option("--target-model <model>", "the target, in place of the second argument");
}

/** Errors: usage, where the two ways to name it disagree. */
function one(which: string, placed: string | undefined, option: string | boolean | undefined) {
  const named = typeof option === "string" ? option : undefined;
  if (placed && named && placed !== named)
    throw usage(
      `The ${which} is named twice: ${placed}, and ${named} by --${which}-model. Name each model once.`,
    );
  return placed ?? named;
}
