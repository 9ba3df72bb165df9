import { command } from "../shell/commands";

interface Direction {
  source: { id: string };
  target: { id: string };
  active: { sha256: string } | null;
}

/** The command that measures drift, or which of the two mappers that it takes is missing. `reverse`: undefined while it loads. */
export function driftStep(
  pair: Direction,
  reverse: Direction | null | undefined,
): { command: string } | { missing: string } | null {
  const [source, target] = [pair.source.id, pair.target.id];
  if (!pair.active)
    return { missing: `No mapper from ${source} to ${target} is active: calibrate this pair.` };
  if (reverse === undefined) return null;
  if (reverse === null)
    return { missing: `The pair from ${target} to ${source} is not registered: register the reverse pair.` };
  if (!reverse.active)
    return { missing: `No mapper from ${target} to ${source} is active: calibrate the reverse pair.` };
  return { command: command.drift(source, target, pair.active.sha256, reverse.active.sha256) };
}
