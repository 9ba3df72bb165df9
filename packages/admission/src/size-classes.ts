import { type InTurn, isBefore, TurnHeap } from "./turn-heap";

interface Sized extends InTurn {
  readonly bytes: number;
}

/** Classes for each doubling: bytes of one class differ by a fifth at most. */
const CLASSES_PER_OCTAVE = 4;

/**
 * Who waits, by size: finds whose turn is first among all, and whose is first among those that fit into so many bytes, without
 * looking at the rest. Of the class that straddles the limit only the first is tried.
 */
export class SizeClasses<T extends Sized> {
  private readonly heaps = new Map<number, TurnHeap<T>>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  add(item: T): void {
    const name = classOf(item.bytes);
    let heap = this.heaps.get(name);
    if (!heap) {
      heap = new TurnHeap();
      this.heaps.set(name, heap);
    }
    heap.push(item);
    this.count += 1;
  }

  remove(item: T): void {
    const name = classOf(item.bytes);
    const heap = this.heaps.get(name);
    if (!heap) return;
    heap.remove(item);
    this.count -= 1;
    if (heap.size === 0) this.heaps.delete(name);
  }

  first(): T | undefined {
    return this.firstWithin(Number.POSITIVE_INFINITY);
  }

  /** The first in turn that takes at most `bytes`, `except` left out. */
  firstWithin(bytes: number, except?: T): T | undefined {
    let found: T | undefined;
    for (const heap of this.heaps.values()) {
      const top = heap.peek();
      if (top === undefined || top.bytes > bytes || top === except) continue;
      if (found === undefined || isBefore(top, found)) found = top;
    }
    return found;
  }
}

function classOf(bytes: number): number {
  return bytes <= 1 ? 0 : Math.ceil(Math.log2(bytes) * CLASSES_PER_OCTAVE);
}
