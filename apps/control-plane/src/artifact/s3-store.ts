import { createHash, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from "@aws-sdk/client-s3";
import { ARTIFACT_FILE } from "@helm/contracts";
import type { ByteRange } from "./range";
import { isMissing, toStoreError } from "./s3-errors";
import {
  type Appended,
  type ArtifactStore,
  bytesOf,
  type Chunk,
  mismatch,
  type PartialUpload,
  requireSha256,
  requireUploadKey,
  type StoredFile,
  tooLong,
  type UploadKey,
  wrongOffset,
} from "./store";

export interface S3Settings {
  /** Null: Amazon's own for the region. */
  endpoint: string | null;
  region: string;
  bucket: string;
  /** Before every key; empty or ending with a slash. */
  prefix: string;
  pathStyle: boolean;
  /** Null: the SDK's own chain (instance roles and the like). */
  credentials: { accessKeyId: string; secretAccessKey: string } | null;
  partBytes?: number;
}

const MiB = 1024 ** 2;
/** Part numbers end at 10,000: enough for 78 GiB. */
const PART_BYTES = 8 * MiB;
const COPY_AT_ONCE = 5 * 1024 ** 3;
const COPY_PART = 1024 ** 3;

interface Multipart {
  key: string;
  id: string;
  startedAt: Date;
}

interface Part {
  number: number;
  bytes: number;
  etag: string;
  at: Date;
}

/**
 * Objects `<prefix><sha256>/mapper.safetensors`. An unfinished upload is a multipart upload under `uploads/`, so it goes on
 * from any process, at a whole part: what came after the last one is sent again. Its digest is computed over the object as
 * the store gives it back, before a copy makes it visible; an ETag is never taken for one.
 */
export class S3Store implements ArtifactStore {
  readonly kind = "s3";
  readonly place: string;
  private readonly client: S3Client;
  private readonly partBytes: number;

  constructor(private readonly settings: S3Settings) {
    const { endpoint, region, credentials, bucket, prefix } = settings;
    this.partBytes = settings.partBytes ?? PART_BYTES;
    this.place = `s3://${bucket}/${prefix}`;
    this.client = new S3Client({
      region,
      forcePathStyle: settings.pathStyle,
      ...(endpoint && { endpoint }),
      ...(credentials && { credentials }),
      maxAttempts: 4,
      // Trailers with checksums are Amazon's alone; ours is the sha256 of the whole.
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
      requestHandler: { connectionTimeout: 5_000, requestTimeout: 60_000 },
    });
  }

  /** Errors: STORAGE_UNAVAILABLE where the bucket cannot be used. */
  async check(): Promise<void> {
    await this.asking(() => this.client.send(new HeadBucketCommand({ Bucket: this.settings.bucket })));
  }

  async size(sha256: string): Promise<number | null> {
    return (await this.head(this.fileOf(sha256)))?.bytes ?? null;
  }

  async read(sha256: string, { start, end }: ByteRange): Promise<Readable> {
    return this.open(this.fileOf(sha256), { start, end });
  }

  async offset(upload: UploadKey): Promise<number> {
    const multipart = await this.find(upload);
    return multipart ? this.standing(await this.parts(multipart)) : 0;
  }

  async append(upload: UploadKey, { offset, length, source }: Chunk): Promise<Appended> {
    const found = await this.find(upload);
    const have = found ? await this.parts(found) : [];
    const there = this.standing(have);
    if (there !== offset) throw wrongOffset(there, offset);
    const multipart = found ?? (await this.begin(upload));
    let at = offset;
    let waiting: Buffer[] = [];
    let bytes = 0;
    const send = async (body: Buffer) => {
      await this.sendPart(multipart, at / this.partBytes + 1, body);
      at += body.length;
    };
    for await (const chunk of bytesOf(source)) {
      waiting.push(chunk);
      bytes += chunk.length;
      if (at + bytes > length) {
        await this.abort(multipart);
        throw tooLong(length);
      }
      if (bytes < this.partBytes) continue;
      let whole = Buffer.concat(waiting);
      for (; whole.length >= this.partBytes; whole = whole.subarray(this.partBytes))
        await send(whole.subarray(0, this.partBytes));
      waiting = [whole];
      bytes = whole.length;
    }
    // Only the last part may be short: what is left of a cut is sent again.
    if (at + bytes < length) return { offset: at, whole: false };
    if (bytes > 0) await send(Buffer.concat(waiting));
    await this.publish(upload, multipart, length);
    return { offset: length, whole: true };
  }

  async partials(): Promise<PartialUpload[]> {
    const found: PartialUpload[] = [];
    for (const multipart of await this.multiparts("uploads/")) {
      const [, sha256 = "", owner = ""] = multipart.key.slice(this.settings.prefix.length).split("/");
      const parts = await this.parts(multipart);
      const times = [multipart.startedAt, ...parts.map(({ at }) => at)].map((at) => at.getTime());
      const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
      found.push({ sha256, owner, bytes, changedAt: new Date(Math.max(...times)) });
    }
    return found;
  }

  async discard(upload: UploadKey): Promise<void> {
    for (const multipart of await this.multiparts(this.folderOf(upload))) await this.abort(multipart);
  }

  /** Objects that were put together and never proven. */
  async clean(before: Date): Promise<void> {
    for (const { key, at } of await this.list("uploads/")) if (at < before) await this.delete(key);
  }

  async files(): Promise<StoredFile[]> {
    const name = new RegExp(`^([0-9a-f]{64})/${ARTIFACT_FILE.replace(".", "\\.")}$`);
    return (await this.list("")).flatMap(({ key, bytes }) => {
      const sha256 = name.exec(key.slice(this.settings.prefix.length))?.[1];
      return sha256 ? [{ sha256, bytes }] : [];
    });
  }

  async remove(sha256: string): Promise<void> {
    await this.delete(this.fileOf(sha256));
  }

  async freeBytes(): Promise<null> {
    return null;
  }

  private fileOf(sha256: string): string {
    return `${this.settings.prefix}${requireSha256(sha256)}/${ARTIFACT_FILE}`;
  }

  private folderOf(upload: UploadKey): string {
    requireUploadKey(upload);
    return `uploads/${upload.sha256}/${upload.owner}/`;
  }

  /** Bytes of the whole parts from the first on without a gap. */
  private standing(parts: Part[]): number {
    let next = 1;
    for (const part of parts) {
      if (part.number !== next || part.bytes !== this.partBytes) break;
      next += 1;
    }
    return (next - 1) * this.partBytes;
  }

  /** Two processes may have begun one upload; both choose the same, the older is it. */
  private async find(upload: UploadKey): Promise<Multipart | null> {
    const found = await this.multiparts(this.folderOf(upload));
    found.sort((a, b) => a.startedAt.getTime() - b.startedAt.getTime() || (a.id < b.id ? -1 : 1));
    return found[0] ?? null;
  }

  private async begin(upload: UploadKey): Promise<Multipart> {
    const Key = `${this.settings.prefix}${this.folderOf(upload)}${randomUUID()}`;
    const { UploadId } = await this.asking(() =>
      this.client.send(new CreateMultipartUploadCommand({ Bucket: this.settings.bucket, Key })),
    );
    const own = { key: Key, id: UploadId ?? "", startedAt: new Date() };
    const chosen = await this.find(upload);
    if (!chosen || chosen.id === own.id) return own;
    await this.abort(own);
    throw wrongOffset(this.standing(await this.parts(chosen)), 0);
  }

  private async sendPart({ key, id }: Multipart, number: number, body: Buffer): Promise<void> {
    await this.asking(() =>
      this.client.send(
        new UploadPartCommand({
          Bucket: this.settings.bucket,
          Key: key,
          UploadId: id,
          PartNumber: number,
          Body: body,
          ContentLength: body.length,
        }),
      ),
    );
  }

  private async publish({ sha256 }: UploadKey, multipart: Multipart, length: number): Promise<void> {
    const { bucket: Bucket } = this.settings;
    const { key: Key, id: UploadId } = multipart;
    const Parts = (await this.parts(multipart)).map(({ number, etag }) => ({
      PartNumber: number,
      ETag: etag,
    }));
    await this.asking(() =>
      this.client.send(
        new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }),
      ),
    );
    try {
      const found = await this.digestOf(Key);
      if (found.digest !== sha256 || found.bytes !== length)
        throw mismatch(sha256, found.digest, found.bytes);
      await this.copy(Key, this.fileOf(sha256), length);
    } finally {
      await this.delete(Key).catch(() => {});
    }
  }

  private async digestOf(key: string): Promise<{ digest: string; bytes: number }> {
    const hash = createHash("sha256");
    let bytes = 0;
    try {
      for await (const chunk of await this.open(key)) {
        bytes += (chunk as Buffer).length;
        hash.update(chunk as Buffer);
      }
    } catch (error) {
      throw toStoreError(error, this.place);
    }
    return { digest: hash.digest("hex"), bytes };
  }

  private async copy(from: string, to: string, length: number): Promise<void> {
    const target = { Bucket: this.settings.bucket, Key: to };
    const CopySource = encodeURI(`${this.settings.bucket}/${from}`);
    if (length <= COPY_AT_ONCE) {
      await this.asking(() => this.client.send(new CopyObjectCommand({ ...target, CopySource })));
      return;
    }
    const { UploadId } = await this.asking(() => this.client.send(new CreateMultipartUploadCommand(target)));
    const Parts: { PartNumber: number; ETag: string | undefined }[] = [];
    for (let start = 0; start < length; start += COPY_PART) {
      const CopySourceRange = `bytes=${start}-${Math.min(start + COPY_PART, length) - 1}`;
      const PartNumber = Parts.length + 1;
      const part = { ...target, UploadId, PartNumber, CopySource, CopySourceRange };
      const { CopyPartResult } = await this.asking(() => this.client.send(new UploadPartCopyCommand(part)));
      Parts.push({ PartNumber, ETag: CopyPartResult?.ETag });
    }
    await this.asking(() =>
      this.client.send(
        new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } }),
      ),
    );
  }

  private async head(key: string): Promise<{ bytes: number } | null> {
    try {
      const found = await this.client.send(new HeadObjectCommand({ Bucket: this.settings.bucket, Key: key }));
      return { bytes: found.ContentLength ?? 0 };
    } catch (error) {
      if (isMissing(error)) return null;
      throw toStoreError(error, this.place);
    }
  }

  private async open(key: string, range?: ByteRange): Promise<Readable> {
    const Range = range ? `bytes=${range.start}-${range.end}` : undefined;
    const { Body } = await this.asking(() =>
      this.client.send(new GetObjectCommand({ Bucket: this.settings.bucket, Key: key, Range })),
    );
    return Body instanceof Readable ? Body : Readable.from([]);
  }

  private async delete(Key: string): Promise<void> {
    await this.asking(() => this.client.send(new DeleteObjectCommand({ Bucket: this.settings.bucket, Key })));
  }

  private async abort({ key, id }: Multipart): Promise<void> {
    try {
      await this.client.send(
        new AbortMultipartUploadCommand({ Bucket: this.settings.bucket, Key: key, UploadId: id }),
      );
    } catch (error) {
      if (!isMissing(error)) throw toStoreError(error, this.place);
    }
  }

  private async multiparts(under: string): Promise<Multipart[]> {
    const found: Multipart[] = [];
    for (let KeyMarker: string | undefined, UploadIdMarker: string | undefined; ; ) {
      const page = await this.asking(() =>
        this.client.send(
          new ListMultipartUploadsCommand({
            Bucket: this.settings.bucket,
            Prefix: `${this.settings.prefix}${under}`,
            KeyMarker,
            UploadIdMarker,
          }),
        ),
      );
      for (const { Key, UploadId, Initiated } of page.Uploads ?? [])
        found.push({ key: Key ?? "", id: UploadId ?? "", startedAt: Initiated ?? new Date(0) });
      if (!page.IsTruncated || !page.NextKeyMarker) return found;
      KeyMarker = page.NextKeyMarker;
      UploadIdMarker = page.NextUploadIdMarker;
    }
  }

  private async parts({ key, id }: Multipart): Promise<Part[]> {
    const found: Part[] = [];
    for (let PartNumberMarker: string | undefined; ; ) {
      const page = await this.asking(() =>
        this.client.send(
          new ListPartsCommand({ Bucket: this.settings.bucket, Key: key, UploadId: id, PartNumberMarker }),
        ),
      );
      for (const { PartNumber, Size, ETag, LastModified } of page.Parts ?? [])
        found.push({
          number: PartNumber ?? 0,
          bytes: Size ?? 0,
          etag: ETag ?? "",
          at: LastModified ?? new Date(0),
        });
      if (!page.IsTruncated || !page.NextPartNumberMarker) break;
      PartNumberMarker = page.NextPartNumberMarker;
    }
    return found.sort((a, b) => a.number - b.number);
  }

  private async list(under: string): Promise<{ key: string; bytes: number; at: Date }[]> {
    const found: { key: string; bytes: number; at: Date }[] = [];
    for (let ContinuationToken: string | undefined; ; ) {
      const page = await this.asking(() =>
        this.client.send(
          new ListObjectsV2Command({
            Bucket: this.settings.bucket,
            Prefix: `${this.settings.prefix}${under}`,
            ContinuationToken,
          }),
        ),
      );
      for (const { Key, Size, LastModified } of page.Contents ?? [])
        found.push({ key: Key ?? "", bytes: Size ?? 0, at: LastModified ?? new Date(0) });
      if (!page.IsTruncated || !page.NextContinuationToken) return found;
      ContinuationToken = page.NextContinuationToken;
    }
  }

  private async asking<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw toStoreError(error, this.place);
    }
  }
}
