interface Line<T> {
  live: Set<T>;
  /** In the order they came; those that left in between lie here until they are looked at. */
  came: T[];
}

/** How many wait for each tenant, and who came last in the longest line; no operation grows with the lines' length. */
export class TenantLines<T extends { readonly tenant: string }> {
  private readonly lines = new Map<string, Line<T>>();
  /** Tenants by the length of their lines. */
  private readonly byLength: Set<string>[] = [];

  lengthOf(tenant: string): number {
    return this.lines.get(tenant)?.live.size ?? 0;
  }

  get longest(): number {
    return Math.max(0, this.byLength.length - 1);
  }

  add(item: T): void {
    const line = this.lines.get(item.tenant) ?? { live: new Set(), came: [] };
    this.lines.set(item.tenant, line);
    line.live.add(item);
    line.came.push(item);
    this.move(item.tenant, line.live.size - 1, line.live.size);
  }

  /** Whether the tenant waits for anything else. */
  remove(item: T): boolean {
    const line = this.lines.get(item.tenant);
    if (!line?.live.delete(item)) return line !== undefined;
    const { size } = line.live;
    this.move(item.tenant, size + 1, size);
    if (line.came.length > 2 * size + 32) line.came = [...line.live];
    if (size > 0) return true;
    this.lines.delete(item.tenant);
    return false;
  }

  /** The newest of a longest line. */
  newestOfLongest(): T | undefined {
    const tenant = this.byLength[this.longest]?.values().next().value;
    const line = tenant === undefined ? undefined : this.lines.get(tenant);
    if (!line) return undefined;
    for (let last = line.came.at(-1); last !== undefined; last = line.came.at(-1)) {
      if (line.live.has(last)) return last;
      line.came.pop();
    }
    return undefined;
  }

  private move(tenant: string, from: number, to: number): void {
    this.byLength[from]?.delete(tenant);
    while (this.byLength.length <= to) this.byLength.push(new Set());
    if (to > 0) this.byLength[to]?.add(tenant);
    while (this.byLength.at(-1)?.size === 0) this.byLength.pop();
  }
}
