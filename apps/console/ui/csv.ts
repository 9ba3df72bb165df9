export type Cell = string | number | boolean | Date | null | undefined;

/** What a spreadsheet may take for the start of a formula, the wide forms of East Asian keyboards included. */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;

/** RFC 4180; times in UTC; a text that a spreadsheet would run as a formula begins with an apostrophe instead. */
export function csvLine(cells: Cell[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

export function toCsv(head: string[], rows: Cell[][]): string {
  return [head, ...rows].map(csvLine).join("");
}

function csvCell(value: Cell): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return value.toISOString();
  const text = String(value);
  const safe = typeof value === "string" && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Hands the browser a file made of these parts. */
export function download(name: string, parts: string[]): void {
  const url = URL.createObjectURL(new Blob(parts, { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
