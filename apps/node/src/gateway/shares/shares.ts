import type { SharePlaces } from "../exchange/resources";

/** Second answers at a time: they measure, and must not become a load of their own. */
const MOST_AT_A_TIME = 2;

/** Draws requests by chance, and keeps what was drawn few at a time and stoppable. */
export class Shares implements SharePlaces {
  private readonly running = new Set<AbortController>();

  constructor(private readonly random: () => number = Math.random) {}

  draw(probability: number): boolean {
    return probability > 0 && this.random() < probability;
  }

  enter(): AbortController | null {
    if (this.running.size >= MOST_AT_A_TIME) return null;
    const end = new AbortController();
    this.running.add(end);
    return end;
  }

  leave(end: AbortController): void {
    this.running.delete(end);
  }

  close(): void {
    for (const end of this.running) end.abort();
  }
}
