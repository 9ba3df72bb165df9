const columns = [
  ["request", (row) => row.what],
  ["answered by", (row) => row.servedBy],
  ["decision", (row) => row.decision],
  ["why", (row) => row.reason ?? "named"],
  ["cache", (row) => row.transfer],
  ["tokens moved", (row) => (row.tokensMoved === null ? "" : String(row.tokensMoved))],
  ["1st token, transferred", (row) => (row.transfer === "transferred" ? ms(row.firstMs) : "")],
  [
    "1st token, own prefill",
    (row) => ms(row.withoutMs ?? (row.transfer === "transferred" ? null : row.firstMs)),
  ],
  ["", (row) => (row.good ? "✓" : "✗ not as promised")],
];

/** The demo's table as text. */
export function table(rows) {
  const cells = [
    columns.map(([title]) => title),
    ...rows.map((row) => columns.map(([, read]) => read(row) ?? "")),
  ];
  const widths = columns.map((_, at) => Math.max(...cells.map((line) => line[at].length)));
  const lines = cells.map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at]))
      .join("  ")
      .trimEnd(),
  );
  return [lines[0], widths.map((width) => "─".repeat(width)).join("──"), ...lines.slice(1)].join("\n");
}

function ms(value) {
  return value === null || value === undefined ? "" : `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}
