import { AccessList, type NodeAck, RoutingSnapshot, type SignedDocument } from "@helm/contracts";
import { type Logger, openSignedDocument } from "@helm/host";
import { AccessIndex, bearerOf, type Tenant } from "./access";
import type { DocumentKind, DocumentStore } from "./document-store";

/** What the control plane wants of this node: the newest valid documents, from the socket or from the last life. */
export class Configuration {
  private routing: RoutingSnapshot | null = null;
  private access: AccessIndex | null = null;
  private acceptedSha: Record<DocumentKind, string> = { snapshot: "", "access-list": "" };

  constructor(
    private readonly store: DocumentStore,
    private readonly signingKey: string,
    private readonly log: Logger,
    private readonly now: () => Date = () => new Date(),
  ) {}

  get snapshot(): RoutingSnapshot | null {
    return this.routing;
  }

  get accessVersion(): number {
    return this.access?.list.version ?? 0;
  }

  get killSwitch(): boolean {
    return this.access?.list.kill_switch ?? false;
  }

  get configured(): boolean {
    return this.access !== null;
  }

  /** Seconds since the access list was issued; the control plane issues it again and again while it lives. */
  get accessAgeS(): number {
    if (!this.access) return Number.POSITIVE_INFINITY;
    return Math.max(0, (this.now().getTime() - new Date(this.access.list.issued_at).getTime()) / 1000);
  }

  /** Helm's own reasons are told elsewhere; these two come from the documents alone. */
  get helmOff(): boolean {
    if (!this.routing?.helm_enabled || !this.access) return true;
    return this.killSwitch || this.accessAgeS > this.access.list.helm_off_after_s;
  }

  authenticate(authorization: string | undefined): Tenant | null {
    const key = bearerOf(authorization);
    if (key === null || !this.access || this.accessAgeS > this.access.list.refuse_keys_after_s) return null;
    return this.access.tenantOf(key, this.now());
  }

  /** Takes up what an earlier life left, as far as it still proves genuine. */
  async restore(): Promise<void> {
    for (const kind of ["access-list", "snapshot"] as const) {
      for (const document of await this.store.load(kind)) {
        try {
          this.adopt(kind, document);
          break;
        } catch (error) {
          this.log.warn({ err: error, kind }, "a stored document is not used");
        }
      }
    }
  }

  /** Checks a pushed document, keeps it on disk and uses it; a document that is not valid changes nothing. */
  async accept(kind: DocumentKind, document: SignedDocument): Promise<NodeAck> {
    const before = this.numberOf(kind);
    try {
      if (document.sha256 === this.acceptedSha[kind]) return this.ack(kind);
      const number = this.check(kind, document);
      if (number <= before) throw new Error(`${number} is not newer than ${before}`);
      await this.store.save(kind, number, document);
      // Two pushes may have been written at the same time; the newer one stays.
      if (number > this.numberOf(kind)) this.adopt(kind, document);
      return this.ack(kind);
    } catch (error) {
      this.log.warn({ err: error, kind }, "a document was refused");
      const reason = error instanceof Error ? error.message : String(error);
      return { ok: false, generation: before, sha256: document.sha256, reason, kept_generation: before };
    }
  }

  private numberOf(kind: DocumentKind): number {
    return kind === "snapshot" ? (this.routing?.generation ?? 0) : this.accessVersion;
  }

  private ack(kind: DocumentKind): NodeAck {
    return { ok: true, generation: this.numberOf(kind), sha256: this.acceptedSha[kind] };
  }

  private check(kind: DocumentKind, document: SignedDocument): number {
    if (kind === "snapshot") {
      return openSignedDocument(document, this.signingKey, RoutingSnapshot).generation;
    }
    return openSignedDocument(document, this.signingKey, AccessList).version;
  }

  private adopt(kind: DocumentKind, document: SignedDocument): void {
    if (kind === "snapshot") {
      this.routing = openSignedDocument(document, this.signingKey, RoutingSnapshot);
    } else {
      this.access = new AccessIndex(openSignedDocument(document, this.signingKey, AccessList));
    }
    this.acceptedSha[kind] = document.sha256;
  }
}
