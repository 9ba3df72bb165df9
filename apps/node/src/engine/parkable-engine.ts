import { type ParkState, parkState } from "./park-states";

/** What keeps an engine running from `start` to `stop`. */
export interface EngineLife {
  start(): void;
  /** Resolves once its process is gone and its memory is given back. */
  stop(): Promise<void>;
}

/** An engine that is kept running, or parked: no process of it is left then. One change at a time; the last wish wins. */
export class ParkableEngine<E extends EngineLife> {
  private state: ParkState = "PARKED";
  private wish: "run" | "park" = "park";
  private closed = false;
  private life: E | null = null;
  private turning: Promise<void> | null = null;

  constructor(
    private readonly make: () => E,
    /** Told whenever the engine's process is gone, or may be there again. */
    private readonly onParked: (parked: boolean) => void,
  ) {}

  /** Null while it is parked. */
  get running(): E | null {
    return this.life;
  }

  run(): void {
    this.turnTo("run");
  }

  park(): void {
    this.turnTo("park");
  }

  /** Parks it for good. */
  async stop(): Promise<void> {
    this.park();
    this.closed = true;
    await this.turning;
  }

  private turnTo(wish: "run" | "park"): void {
    if (this.closed) return;
    this.wish = wish;
    // Not at once: whoever is told of a change may wish again.
    this.turning ??= Promise.resolve().then(() => this.turn());
  }

  private async turn(): Promise<void> {
    for (;;) {
      if (this.wish === "run" && this.state === "PARKED") {
        this.move("RUNNING");
        this.life = this.make();
        this.life.start();
        this.onParked(false);
      } else if (this.wish === "park" && this.state === "RUNNING") {
        this.move("PARKING");
        await this.life?.stop();
        this.life = null;
        this.move("PARKED");
        this.onParked(true);
      } else {
        this.turning = null;
        return;
      }
    }
  }

  private move(to: ParkState): void {
    this.state = parkState(this.state, to);
  }
}
