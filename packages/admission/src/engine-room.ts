import type { Admitted } from "./admission";
import type { Clock } from "./clock";
import { Ledger } from "./ledger";
import { type Pull, type PullLimits, PullWindow } from "./pull-window";
import { ReleaseForecast } from "./release-forecast";

/** What an engine has room for in bytes, what it is handed at a time, and when either is likely to come free. */
export class EngineRoom {
  private readonly ledger: Ledger;
  private readonly window: PullWindow;
  private readonly forecast = new ReleaseForecast();

  constructor(
    capacityBytes: number,
    pull: PullLimits,
    private readonly clock: Clock,
    /** Told whenever something came free. */
    private readonly onFree: () => void,
  ) {
    this.ledger = new Ledger(capacityBytes);
    this.window = new PullWindow(pull);
  }

  get capacity(): number {
    return this.ledger.capacity;
  }

  get available(): number {
    return this.ledger.available;
  }

  get reserved(): number {
    return this.ledger.reserved;
  }

  get handed(): Readonly<Pull> {
    return this.window.handed;
  }

  measure(capacityBytes: number): void {
    this.ledger.measure(capacityBytes);
  }

  takes(pull: Pull): boolean {
    return this.window.fits(pull);
  }

  /** Milliseconds until so many bytes are likely to be free. Where they are, and its hands are full, the next that ends makes room. */
  retryMs(wanted: number): number {
    const missing = Math.max(wanted - this.available, this.window.handed.rows > 0 ? 1 : 0);
    return this.forecast.retryMs(missing, this.clock.now());
  }

  /** Each of `overtaken` counts bytes that are held by those who went before somebody in the queue. */
  reserve(bytes: number, pull: Pull, overtaken: readonly { bytes: number }[]): Admitted | null {
    if (!this.takes(pull)) return null;
    const reservation = this.ledger.reserve(bytes);
    if (!reservation) return null;
    const pulled = this.window.take(pull);
    const count = (more: number) => {
      for (const one of overtaken) one.bytes += more;
    };
    count(bytes);
    const held = this.forecast.hold(bytes, this.clock.now());
    let open = true;
    return {
      get bytes() {
        return reservation.bytes;
      },
      shrink: (smaller) => {
        const before = reservation.bytes;
        reservation.shrink(smaller);
        if (!open || reservation.bytes === before) return;
        held.shrink(reservation.bytes);
        count(reservation.bytes - before);
        this.onFree();
      },
      started: () => {
        pulled.started();
        this.onFree();
      },
      release: () => {
        if (!open) return;
        open = false;
        pulled.ended();
        held.release(this.clock.now());
        count(-reservation.bytes);
        reservation.release();
        this.onFree();
      },
    };
  }
}
