import type { ArmScore, Assessment } from "@helm/contracts";
import { type Style, table, wrap } from "../../../terminal/style";
import { interval, three } from "./reported";

/** The gate's number, its parts, and the rows beyond the fitted length, which are no part of it. */
export function retentionLines(assessment: Assessment, style: Style, width: number): string[] {
  const { retention, report, by_domain: domains, by_prefix: prefixes, long } = assessment;
  const rows = [row("gate split", { ...retention, retention: retention.value })];
  for (const [domain, score] of Object.entries(domains)) rows.push(row(`  ${domain}`, score));
  for (const [tokens, score] of Object.entries(prefixes ?? {})) rows.push(row(`  prefix ${tokens}`, score));
  if (report) rows.push(row("report split", report));
  for (const { multiple, arms } of long ?? []) {
    const name = `${multiple} x length`;
    if (arms.mapper) rows.push(row(name, arms.mapper));
    if (arms.identity) rows.push(row("  identity", arms.identity));
    if (arms.zero_cache) rows.push(row("  zero cache", arms.zero_cache));
  }
  const head = ["", "value", "95 % interval", "1st", "2-16", "17-64", "seqs"];
  const lines = table(head, rows, [1, 2, 3, 4, 5, 6]);
  const told = lines.map((line, at) => (at === 0 ? style.dim(line) : line));
  const note = (text: string) => wrap(text, width).map(style.dim);
  const leftOut = (long ?? []).flatMap(({ multiple, left_out: reason }) =>
    reason ? note(`${multiple} x length was left out: ${reason}`) : [],
  );
  const beyond = (long ?? []).some(({ arms }) => arms.mapper);
  const apart = beyond ? note("Rows beyond the fitted length stand alone; the gate never sees them.") : [];
  return [...told, ...apart, ...leftOut];
}

function row(name: string, score: ArmScore): string[] {
  const { first, early, late } = score.buckets;
  return [
    name,
    three(score.retention),
    interval(score),
    three(first),
    three(early),
    three(late),
    String(score.n),
  ];
}
