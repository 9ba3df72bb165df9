import type { Admitted } from "./admission";

/** Room that was given by a bound, and how to learn what it should have been. */
export class BoundBook {
  private readonly open = new Map<Admitted, () => Promise<number>>();

  hold(reservation: Admitted, exact: () => Promise<number>): Admitted {
    const bounded: Admitted = {
      get bytes() {
        return reservation.bytes;
      },
      shrink: (bytes) => reservation.shrink(bytes),
      started: () => reservation.started(),
      release: () => {
        this.open.delete(bounded);
        reservation.release();
      },
    };
    this.open.set(bounded, exact);
    return bounded;
  }

  /** Has everything counted that was not yet. Where the exact size cannot be had the bound stands: it is never too little. */
  settle(): void {
    for (const [reservation, exact] of this.open) {
      this.open.delete(reservation);
      exact().then(
        (bytes) => reservation.shrink(bytes),
        () => {},
      );
    }
  }
}
