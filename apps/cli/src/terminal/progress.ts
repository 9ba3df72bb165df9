import cliProgress, { type SingleBar } from "cli-progress";
import type { Screen } from "./screen";
import { formatDuration, formatRate } from "./style";

export interface Progress {
  stage: string;
  percent: number;
  rate: number | null;
  unit: string | null;
}

const PLAIN_STEP = 10;
/** Before this share of the run a time left is a guess. */
const STABLE_PERCENT = 8;

/** Progress of one run: a bar on a terminal, a line at each stage and every ten percent elsewhere. */
export class ProgressView {
  private readonly bar: SingleBar | null;
  private readonly began = Date.now();
  private startPercent: number | null = null;
  /** Where the run is; never falls. */
  percent = 0;
  private stage = "";
  private said = -PLAIN_STEP;

  constructor(private readonly screen: Screen) {
    this.bar = screen.interactive
      ? new cliProgress.SingleBar({
          format: (options, params, payload) => {
            const columns = process.stdout.columns ?? 80;
            const tail = `${payload.tail}`;
            const size = Math.max(10, Math.min(40, columns - tail.length - 22));
            const bar = cliProgress.Format.BarFormat(params.progress, { ...options, barsize: size });
            const percent = `${Math.floor(params.progress * 100)}`.padStart(3);
            return `${String(payload.stage).padEnd(8)} ${bar} ${percent} %  ${tail}`;
          },
          barCompleteChar: "\u2588",
          barIncompleteChar: "\u2591",
          hideCursor: true,
          clearOnComplete: true,
          stopOnComplete: false,
          fps: 8,
          stream: process.stdout,
        })
      : null;
    this.bar?.start(100, 0, { stage: "starting", tail: "" });
  }

  update(progress: Progress): void {
    const { stage } = progress;
    const percent = Math.max(this.percent, progress.percent);
    this.percent = percent;
    this.startPercent ??= percent;
    const tail = [rateOf(progress), this.timeLeft(percent)].filter(Boolean).join("  ");
    if (this.bar) {
      this.bar.update(Math.min(100, percent), { stage, tail });
      return;
    }
    // With --json the events themselves tell it.
    if (this.screen.json) return;
    const due = percent - this.said >= PLAIN_STEP || stage !== this.stage;
    this.stage = stage;
    if (!due) return;
    this.said = percent;
    this.screen.say(`${String(Math.floor(percent)).padStart(3)} %  ${stage.padEnd(8)} ${tail}`.trimEnd());
  }

  /** A line above the bar. */
  say(line: string): void {
    if (this.bar) process.stdout.write("\r\u001b[K");
    this.screen.say(line);
    if (this.bar) this.bar.render();
  }

  stop(): void {
    this.bar?.stop();
  }

  private timeLeft(percent: number): string {
    const gained = percent - (this.startPercent ?? 0);
    const seconds = (Date.now() - this.began) / 1000;
    if (gained < STABLE_PERCENT || seconds < 5 || percent >= 100) return "";
    return `about ${formatDuration((seconds / gained) * (100 - percent))} left`;
  }
}

function rateOf({ rate, unit }: Progress): string {
  return rate === null || unit === null ? "" : `${formatRate(rate)} ${unit}/s`;
}
