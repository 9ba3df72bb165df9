/** What stands in a queue: its turn, and its place among those of the same turn. */
export interface InTurn {
  readonly turn: number;
  readonly order: number;
}

/**
 * A binary heap by turn, from which anything may be taken out: what left is skipped when it comes to the top, and the heap is
 * made anew once more than half of it has left. All operations are O(log n), amortised.
 */
export class TurnHeap<T extends InTurn> {
  private items: T[] = [];
  private readonly left = new Set<T>();

  get size(): number {
    return this.items.length - this.left.size;
  }

  push(item: T): void {
    // What left and comes back while it still lies in here stands in its old place.
    if (this.left.delete(item)) return;
    this.items.push(item);
    this.rise(this.items.length - 1);
  }

  /** The one whose turn comes first. */
  peek(): T | undefined {
    for (let top = this.items[0]; top !== undefined; top = this.items[0]) {
      if (!this.left.delete(top)) return top;
      this.dropTop();
    }
    return undefined;
  }

  /** Only for what is in here. */
  remove(item: T): void {
    this.left.add(item);
    if (this.left.size > 32 && this.left.size * 2 > this.items.length) this.rebuild();
  }

  private dropTop(): void {
    const end = this.items.pop();
    if (end === undefined || this.items.length === 0) return;
    this.items[0] = end;
    this.sink(0);
  }

  private rebuild(): void {
    this.items = this.items.filter((item) => !this.left.has(item));
    this.left.clear();
    for (let at = (this.items.length >> 1) - 1; at >= 0; at--) this.sink(at);
  }

  private rise(from: number): void {
    const { items } = this;
    const item = items[from] as T;
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = items[above] as T;
      if (!isBefore(item, parent)) break;
      items[at] = parent;
      at = above;
    }
    items[at] = item;
  }

  private sink(from: number): void {
    const { items } = this;
    const item = items[from] as T;
    let at = from;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= items.length) break;
      if (below + 1 < items.length && isBefore(items[below + 1] as T, items[below] as T)) below += 1;
      if (!isBefore(items[below] as T, item)) break;
      items[at] = items[below] as T;
      at = below;
    }
    items[at] = item;
  }
}

export function isBefore(one: InTurn, other: InTurn): boolean {
  return one.turn < other.turn || (one.turn === other.turn && one.order < other.order);
}
