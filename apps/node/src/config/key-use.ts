import type { NodeStats } from "@helm/contracts";

type Used = NonNullable<NodeStats["keys"]>;

/** Which keys were accepted since the last report, and when last; bounded by how many keys the access list has. */
export class KeyUse {
  private readonly last = new Map<string, number>();

  note(prefix: string, at: Date): void {
    this.last.set(prefix, Math.max(at.getTime(), this.last.get(prefix) ?? 0));
  }

  /** What was noted, handed over once. */
  take(): Used {
    const used = [...this.last].map(([prefix, at]) => ({ prefix, last_used_at: new Date(at).toISOString() }));
    this.last.clear();
    return used;
  }

  get empty(): boolean {
    return this.last.size === 0;
  }
}
