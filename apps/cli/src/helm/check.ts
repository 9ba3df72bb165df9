import { ExitCode } from "@helm/contracts";
import { locatePython } from "@helm/host";
import { checkPair, type PairCheck } from "@helm/pairing";
import type { Context } from "../context";
import { Failure } from "../failure";
import { locateModel, readFacts } from "../models";
import { printable } from "../terminal/style";

/** Whether two models may be a pair, from their files alone. Exit codes: 0 possible, 3 impossible, 5 unreadable. */
export async function checkModels(context: Context, sourceModel: string, targetModel: string): Promise<void> {
  const { screen, config } = context;
  const python = locatePython(config.python);
  const [source, target] = await Promise.all([
    locateModel(sourceModel, config),
    locateModel(targetModel, config),
  ]);
  const [from, to] = await Promise.all([readFacts(source, python), readFacts(target, python)]);
  const check = checkPair(from, to, { requireTokenizer: false });
  const names = { source: source.id, target: target.id };
  if (!check.ok) throw impossible(names, check);
  screen.answer({ type: "check", ...names, ...check }, () => [
    `${screen.style.green("Possible pair")}: ${names.source} -> ${names.target}${check.family ? `, family ${check.family}` : ""}.`,
    ...check.notes.map((note) => printable(`  note: ${note}`)),
  ]);
}

/** All causes, a line each. */
export function impossible(
  names: { source: string; target: string },
  check: Pick<PairCheck, "causes" | "notes">,
): Failure {
  const lines = check.causes.map(({ cause, sentence }) => printable(`  ${cause}: ${sentence}`));
  const notes = check.notes.map((note) => printable(`  note: ${note}`));
  const message = `Impossible pair: ${names.source} -> ${names.target}. ${lines.length === 1 ? "The cause" : `The ${lines.length} causes`}:`;
  return new Failure(ExitCode.impossiblePair, "PAIR_IMPOSSIBLE", message, [...lines, ...notes], {
    type: "check",
    ...names,
    ...check,
  });
}
