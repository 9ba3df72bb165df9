/**
 * One read for all who ask in the same moment. It begins after the last of them has asked, so nobody is given what was
 * read before a change that made it ask.
 */
export class SharedRead<K, V> {
  private keys = new Set<K>();
  private next: Promise<Map<K, V>> | null = null;

  constructor(private readonly read: (keys: K[]) => Promise<Map<K, V>>) {}

  async get(key: K): Promise<V | undefined> {
    this.keys.add(key);
    this.next ??= this.begin();
    return (await this.next).get(key);
  }

  private begin(): Promise<Map<K, V>> {
    return new Promise((resolve, reject) => {
      setImmediate(() => {
        const keys = [...this.keys];
        this.keys = new Set();
        this.next = null;
        this.read(keys).then(resolve, reject);
      });
    });
  }
}
