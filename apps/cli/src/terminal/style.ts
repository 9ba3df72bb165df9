/** Colour where a terminal shows it and the user has not asked for none. */
export class Style {
  constructor(private readonly on: boolean) {}

  bold = (text: string) => this.wrap(text, 1, 22);
  dim = (text: string) => this.wrap(text, 2, 22);
  red = (text: string) => this.wrap(text, 31, 39);
  green = (text: string) => this.wrap(text, 32, 39);
  yellow = (text: string) => this.wrap(text, 33, 39);

  private wrap(text: string, open: number, close: number): string {
    return this.on ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  }
}

/** A text from a file or a device, without what a terminal would obey. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}|\p{Cf}/gu, "?");
}

/** Columns as wide as their longest cell, two spaces between; numbers to the right where `right` says so. */
export function table(header: string[], rows: string[][], right: number[] = []): string[] {
  const all = [header, ...rows];
  const columns = Math.max(...all.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...all.map((row) => (row[column] ?? "").length)),
  );
  const line = (row: string[]) =>
    row
      .map((cell, column) =>
        right.includes(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  return all.map(line);
}

/** Breaks a sentence into lines of at most `width`, each led by `indent`. */
export function wrap(text: string, width: number, indent = ""): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    if (line && indent.length + line.length + 1 + word.length > width) {
      lines.push(indent + line);
      line = word;
    } else {
      line = line ? `${line} ${word}` : word;
    }
  }
  return line ? [...lines, indent + line] : lines;
}

export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const minutes = Math.floor(whole / 60);
  return minutes > 0 ? `${minutes} min ${String(whole % 60).padStart(2, "0")} s` : `${whole} s`;
}

export function formatRate(rate: number): string {
  return rate >= 100 ? Math.round(rate).toLocaleString("en-US") : rate.toFixed(1);
}

/** A moment to the minute, in UTC; a dash for none. */
export function minute(at: Date | null): string {
  return at ? at.toISOString().slice(0, 16).replace("T", " ") : "-";
}
