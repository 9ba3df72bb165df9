import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { downloadArtifact, type HostClient } from "@helm/host";

const MAPPER = /^[0-9a-f]{64}$/;

/**
 * The mappers on this node's disk. Whatever comes and goes meanwhile, of one mapper one thing is done at a time: two that fetch
 * it would write into one file, and one that is removed while it is fetched would be found and gone.
 */
export class MapperShelf {
  private wanted: ReadonlySet<string> = new Set();
  private readonly fetching = new Map<string, Promise<unknown>>();
  private readonly removing = new Map<string, Promise<void>>();

  constructor(
    private readonly directory: string,
    private readonly artifacts: HostClient,
  ) {}

  /** What is to lie here from now on; the rest goes with the next tidying. */
  want(mappers: ReadonlySet<string>): void {
    this.wanted = mappers;
  }

  /** One try, shared by all who ask meanwhile. Errors: as downloadArtifact's. */
  async fetch(sha256: string, expectedBytes: number): Promise<void> {
    await this.removing.get(sha256);
    const running =
      this.fetching.get(sha256) ??
      downloadArtifact(this.artifacts, {
        urlPath: `/api/node/artifacts/${sha256}`,
        sha256,
        directory: this.directory,
        expectedBytes,
      }).finally(() => this.fetching.delete(sha256));
    this.fetching.set(sha256, running);
    await running;
  }

  /** Mappers that nobody wants leave the engine's memory by `drop`, then the disk. */
  async tidy(drop: (sha256: string) => Promise<void>): Promise<void> {
    const names = await readdir(this.directory).catch(() => []);
    for (const name of names.filter((entry) => MAPPER.test(entry))) {
      if (this.wanted.has(name) || this.fetching.has(name)) continue;
      const gone = drop(name)
        .catch(() => {})
        .then(() => rm(join(this.directory, name), { recursive: true, force: true }))
        .finally(() => this.removing.delete(name));
      this.removing.set(name, gone);
      await gone;
    }
  }
}
