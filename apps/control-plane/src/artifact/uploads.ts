import type { Readable } from "node:stream";
import { HelmError } from "@helm/contracts";
import {
  type Appended,
  type ArtifactStore,
  busy,
  type PartialUpload,
  requireUploadKey,
  type UploadKey,
} from "./store";

export interface UploadBounds {
  /** Of one artifact. */
  maxBytes: number;
  /** Unfinished uploads at a time, and what they may hold together. */
  maxPartials: number;
  maxPartialBytes: number;
  /** An unfinished upload that nothing was added to for so long is thrown away. */
  maxAgeMs: number;
}

/** Of a person, unfinished at a time; an attempt has one mapper and so one upload. */
const PARTIALS_OF_PERSON = 4;

interface Writer {
  /** What its upload will hold, as announced. */
  length: number;
  end: () => void;
  done: Promise<unknown>;
}

/** Lets one request at a time write an upload, the newest, and bounds what lies unfinished. */
export class Uploads {
  private readonly writers = new Map<string, Writer>();

  constructor(
    readonly store: ArtifactStore,
    readonly bounds: UploadBounds,
  ) {}

  /** Where to go on. A request that still writes this upload is ended: its caller has given it up, or is another. */
  async offset(upload: UploadKey): Promise<number> {
    requireUploadKey(upload);
    await this.endWriter(upload);
    return this.store.offset(upload);
  }

  /** Errors: as the store's, ARTIFACT_TOO_LARGE, UPLOAD_BUSY where too much lies unfinished. */
  async append(upload: UploadKey, offset: number, length: number, source: Readable): Promise<Appended> {
    requireUploadKey(upload);
    const { maxBytes } = this.bounds;
    if (length > maxBytes) {
      const sentence = `The artifact has ${length} bytes; this server takes ${maxBytes} at most (HELM_ARTIFACT_MAX_BYTES).`;
      throw new HelmError("ARTIFACT_TOO_LARGE", sentence, { length, maxBytes });
    }
    await this.endWriter(upload);
    const others = await this.makePlace(upload);
    // From here to the writer's entry nothing waits: two that come together do not both take the last room.
    this.requireRoom(others, upload, length);
    const running = this.store.append(upload, { offset, length, source });
    const writer: Writer = {
      length,
      end: () => source.destroy(busy("Another request goes on with this upload.", 1_000)),
      done: running.catch(() => {}),
    };
    const key = keyOf(upload);
    this.writers.set(key, writer);
    try {
      return await running;
    } finally {
      if (this.writers.get(key) === writer) this.writers.delete(key);
    }
  }

  /** Brings what is at hand, whole. */
  async put(sha256: string, owner: string, length: number, source: Readable): Promise<void> {
    const { whole } = await this.append({ sha256, owner }, 0, length, source);
    if (!whole) throw new HelmError("ARTIFACT_MISMATCH", "The artifact ended early.", { sha256, length });
  }

  /** Throws away what nobody goes on with: too old, or `abandoned` says that its owner is gone. Returns how many. */
  async sweep(abandoned: (owners: string[]) => Promise<Set<string>>): Promise<number> {
    const before = new Date(Date.now() - this.bounds.maxAgeMs);
    const partials = await this.store.partials();
    const gone = await abandoned(partials.map(({ owner }) => owner));
    let swept = 0;
    for (const partial of partials) {
      const writing = this.writers.has(keyOf(partial));
      if (writing || !(partial.changedAt < before || gone.has(partial.owner))) continue;
      await this.store.discard(partial);
      swept += 1;
    }
    await this.store.clean(before);
    return swept;
  }

  private async endWriter(upload: UploadKey): Promise<void> {
    const writer = this.writers.get(keyOf(upload));
    if (!writer) return;
    writer.end();
    await writer.done;
  }

  /** What else lies unfinished, once its owner's oldest beyond his bound are thrown away. */
  private async makePlace(upload: UploadKey): Promise<PartialUpload[]> {
    const others = (await this.store.partials()).filter((partial) => keyOf(partial) !== keyOf(upload));
    const ofOwner = others
      .filter(({ owner }) => owner === upload.owner)
      .sort((a, b) => a.changedAt.getTime() - b.changedAt.getTime());
    const bound = upload.owner.startsWith("person-") ? PARTIALS_OF_PERSON : 1;
    const tooMany = ofOwner.slice(0, Math.max(0, ofOwner.length + 1 - bound));
    for (const old of tooMany) {
      await this.endWriter(old);
      await this.store.discard(old);
    }
    return others.filter((partial) => !tooMany.includes(partial));
  }

  /** Asked at every append: what is being written here counts as announced, everything else as it lies. */
  private requireRoom(others: PartialUpload[], upload: UploadKey, length: number): void {
    const places = new Map(others.map((partial) => [keyOf(partial), partial.bytes]));
    for (const [key, writer] of this.writers) if (key !== keyOf(upload)) places.set(key, writer.length);
    const held = [...places.values()].reduce((sum, bytes) => sum + bytes, 0);
    if (places.size < this.bounds.maxPartials && held + length <= this.bounds.maxPartialBytes) return;
    const sentence = `${places.size} unfinished uploads of ${held} bytes lie here or are on their way, and ${length} bytes more are beyond what this server keeps. One that nobody goes on with is thrown away in time; try again later.`;
    throw new HelmError("UPLOAD_BUSY", sentence, { retryAfterMs: 30_000, partials: places.size, held });
  }
}

function keyOf({ sha256, owner }: UploadKey): string {
  return `${sha256}.${owner}`;
}
