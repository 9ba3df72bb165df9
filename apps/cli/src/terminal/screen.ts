import { Style } from "./style";

/**
 * Where a verb writes. With `--json` standard output carries JSON lines alone; everything for people goes to standard
 * error then.
 */
export class Screen {
  readonly style: Style;
  /** A terminal that a bar can be drawn on. */
  readonly interactive: boolean;

  constructor(
    readonly json: boolean,
    color: boolean,
    private readonly out: NodeJS.WriteStream = process.stdout,
    private readonly err: NodeJS.WriteStream = process.stderr,
  ) {
    const shown = json ? err : out;
    this.interactive = shown.isTTY === true && process.env.TERM !== "dumb" && !json;
    this.style = new Style(color && shown.isTTY === true);
  }

  get width(): number {
    return Math.min(100, Math.max(40, this.out.columns ?? 100));
  }

  /** A line for people. */
  say(line = ""): void {
    (this.json ? this.err : this.out).write(`${line}\n`);
  }

  /** A line for people that is no part of the answer. */
  note(line: string): void {
    this.err.write(`${line}\n`);
  }

  /** One JSON line, with `--json` only. */
  emit(value: unknown): void {
    if (this.json) this.out.write(`${JSON.stringify(value)}\n`);
  }

  /** The answer: as JSON, or as the lines for people. */
  answer(value: unknown, lines: () => string[]): void {
    if (this.json) this.emit(value);
    else for (const line of lines()) this.say(line);
  }
}
