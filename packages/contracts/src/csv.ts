export type CsvCell = string | number | boolean | Date | null | undefined;

/** What a spreadsheet may take for the start of a formula, the wide forms of East Asian keyboards included. */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;

/** RFC 4180; times in UTC; a text that a spreadsheet would run as a formula begins with an apostrophe instead. */
export function csvLine(cells: CsvCell[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

export function toCsv(head: string[], rows: CsvCell[][]): string {
  return [head, ...rows].map(csvLine).join("");
}

function csvCell(value: CsvCell): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return value.toISOString();
  const text = String(value);
  const safe = typeof value === "string" && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
