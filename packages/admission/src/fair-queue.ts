/** First in, first out within a tenant; tenants take turns. */
export class FairQueue<T> {
  private readonly lines = new Map<string, T[]>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  push(tenant: string, item: T): void {
    const line = this.lines.get(tenant);
    if (line) line.push(item);
    else this.lines.set(tenant, [item]);
    this.count += 1;
  }

  /** Whose turn it is, without taking it. */
  peek(): T | undefined {
    return this.lines.values().next().value?.[0];
  }

  /** Takes what `peek` shows; its tenant goes to the end of the round. */
  shift(): T | undefined {
    const next = this.lines.entries().next().value;
    if (!next) return undefined;
    const [tenant, line] = next;
    const item = line.shift();
    this.lines.delete(tenant);
    if (line.length > 0) this.lines.set(tenant, line);
    this.count -= 1;
    return item;
  }

  remove(tenant: string, item: T): boolean {
    const line = this.lines.get(tenant);
    const at = line?.indexOf(item) ?? -1;
    if (!line || at < 0) return false;
    line.splice(at, 1);
    if (line.length === 0) this.lines.delete(tenant);
    this.count -= 1;
    return true;
  }
}
