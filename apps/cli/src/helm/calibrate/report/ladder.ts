import type { ArmName, Assessment } from "@helm/contracts";
import { gateText } from "@helm/pairing";
import type { Style } from "../../../terminal/style";
import { interval, three } from "./reported";

const NAMES: Record<ArmName, string> = {
  mapper: "this mapper",
  identity: "identity",
  self_map: "self-map",
  zero_cache: "zero cache",
  other_sequence: "stranger's cache",
  no_rerotation: "no re-rotation",
  shuffled_heads: "shuffled heads",
  pilot_alone: "pilot alone",
  plain_ridge: "plain ridge",
};

const NAME_WIDTH = Math.max(...Object.values(NAMES).map((name) => name.length));
/** "0.978  0.974 - 0.982" and the spaces around it. */
const FIGURES = 22;

/** One line an arm, lowest first: a dot on the scale from 0 to 1, its interval drawn, the gate a line through all. */
export function ladderLines(assessment: Assessment, style: Style, width: number): string[] {
  const { retention, arms, gate } = assessment;
  const own = { ...retention, retention: retention.value };
  const rungs = [
    ["mapper", own] as const,
    ...(Object.entries(arms) as [ArmName, typeof own][]).filter(([name]) => name !== "mapper"),
  ].sort(([, a], [, b]) => a.retention - b.retention);
  const cells = Math.max(20, Math.min(48, width - NAME_WIDTH - FIGURES - 2));
  const at = (value: number) => Math.round(Math.min(1, Math.max(0, value)) * (cells - 1));
  const lines = rungs.map(([name, score]) => {
    const track = Array.from({ length: cells }, () => "\u00b7");
    for (let cell = at(score.low); cell <= at(score.high); cell++) track[cell] = "\u2500";
    track[at(gate)] = "\u2502";
    track[at(score.retention)] = "\u25cf";
    const line = `${NAMES[name].padEnd(NAME_WIDTH)}  ${track.join("")}  ${three(score.retention)}  ${interval(score)}`;
    return name === "mapper" ? style.bold(line) : line;
  });
  return [scale(gate, at(gate), cells, style), ...lines];
}

/** 0 at the left, 1 at the right, the gate's name where its line is. */
function scale(gate: number, at: number, cells: number, style: Style): string {
  const label = `gate ${gateText(gate)}`;
  const text = Array.from({ length: cells }, () => " ");
  text[0] = "0";
  text[cells - 1] = "1";
  const start = Math.max(2, Math.min(cells - 2 - label.length, at - Math.floor(label.length / 2)));
  for (let i = 0; i < label.length; i++) text[start + i] = label[i] ?? " ";
  return style.dim(`${" ".repeat(NAME_WIDTH)}  ${text.join("")}`);
}
