import { BREAK_EVENS, type CostPoint, fromTokens } from "@helm/contracts";
import { breakEvenOf } from "@helm/pairing";
import { type Style, table, wrap } from "../../../terminal/style";

/** The parts of a transfer against both prefills, the three whole paths, and from which length each pays. */
export function costLines(cost: CostPoint[], style: Style, width: number): string[] {
  const measured = cost.filter((point) => !point.left_out);
  if (cost.length === 0) return [];
  const parts = table(
    ["tokens", "pilot prefill", "target prefill", "map", "move", "tail", "transfer"],
    measured.map((point) => [
      point.tokens.toLocaleString("en"),
      ...[
        point.pilot_prefill_ms,
        point.target_prefill_ms,
        point.map_ms,
        point.move_ms,
        point.tail_ms,
        point.transfer_ms,
      ].map(ms),
    ]),
    [0, 1, 2, 3, 4, 5, 6],
  );
  const dimHead = (lines: string[]) => lines.map((line, at) => (at === 0 ? style.dim(line) : line));
  const left = cost.flatMap((point) =>
    point.left_out ? wrap(`${point.tokens.toLocaleString("en")}: ${point.left_out}`, width) : [],
  );
  return [
    ...dimHead(parts),
    ...left,
    ...pathLines(measured, dimHead),
    "",
    ...breakEven(measured).flatMap((line) => wrap(line, width)),
  ];
}

function pathLines(measured: CostPoint[], dimHead: (lines: string[]) => string[]): string[] {
  const known = measured.filter((point) => point.direct_target_ms != null);
  if (known.length === 0) return [];
  const rows = known.map((point) => [
    point.tokens.toLocaleString("en"),
    ...[point.direct_target_ms, point.escalated_with_transfer_ms, point.escalated_without_transfer_ms].map(
      ms,
    ),
  ]);
  const head = ["tokens", "direct target", "escalated, transfer", "escalated, prefill"];
  return ["", ...dimHead(table(head, rows, [0, 1, 2, 3]))];
}

function breakEven(measured: CostPoint[]): string[] {
  const at = breakEvenOf(measured);
  const decided = measured.find((point) => point.decision_tokens != null)?.decision_tokens;
  const line = (key: keyof typeof BREAK_EVENS, more = "") => {
    const { name, words } = BREAK_EVENS[key];
    return `${name}: ${fromTokens(at[key]).replace(/^from /, "")} (${words}${more}).`;
  };
  const lines = [line("transfer"), line("with_pilot")];
  if (decided == null) return lines;
  const whole = `, the pilot's prefill and ${decided} decoded tokens included`;
  return [...lines, line("escalated", whole), line("direct")];
}

function ms(value: number | null | undefined): string {
  if (value == null) return "-";
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(value >= 10 ? 1 : 2);
}
