import {
  AccessList,
  DEFAULT_TRACE_RATE,
  type NodeAck,
  NodeOrders,
  RoutingSnapshot,
  type SignedDocument,
} from "@helm/contracts";
import { DocumentError, type Logger, openSignedDocument } from "@helm/host";
import type { z } from "zod";
import { AccessIndex, bearerOf, type Tenant } from "./access";
import type { DocumentKind, DocumentStore, StoredDocument } from "./document-store";
import { KeyUse } from "./key-use";

const NUMBERED: Record<DocumentKind, string> = {
  snapshot: "generation",
  "access-list": "access list version",
  orders: "orders revision",
};

/** What the control plane wants of this node: the newest valid documents, from the socket or from the last life. */
export class Configuration {
  private routing: RoutingSnapshot | null = null;
  private access: AccessIndex | null = null;
  private ordered: NodeOrders | null = null;
  private acceptedSha: Record<DocumentKind, string> = { snapshot: "", "access-list": "", orders: "" };
  /** An access list once held, readable or not, is never gone back behind: an older one may hold a revoked key. */
  private accessFloor = 0;
  /** What had to be passed over at the start, in words. */
  readonly remarks: string[] = [];

  constructor(
    private readonly store: DocumentStore,
    private readonly identity: { signingKey: string; nodeId: string },
    private readonly log: Logger,
    private readonly now: () => Date = () => new Date(),
    private readonly keyUse: KeyUse = new KeyUse(),
  ) {}

  get snapshot(): RoutingSnapshot | null {
    return this.routing;
  }

  get orders(): NodeOrders | null {
    return this.ordered;
  }

  get accessVersion(): number {
    return this.access?.list.version ?? 0;
  }

  get killSwitch(): boolean {
    return this.access?.list.kill_switch ?? false;
  }

  get traceRate(): number {
    return this.access?.list.trace_rate ?? DEFAULT_TRACE_RATE;
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
    const found = this.access.keyOf(key, this.now());
    if (!found) return null;
    this.keyUse.note(found.prefix, this.now());
    return found.tenant;
  }

  /** Takes up what an earlier life left, as far as it still proves genuine. */
  async restore(): Promise<void> {
    for (const kind of ["access-list", "snapshot", "orders"] as const) {
      const stored = await this.store.load(kind);
      if (kind === "access-list") this.accessFloor = stored[0]?.number ?? 0;
      // Of access lists the newest or none: the others are kept for people to look at.
      this.restoreOne(kind, kind === "access-list" ? stored.slice(0, 1) : stored);
    }
  }

  private restoreOne(kind: DocumentKind, stored: StoredDocument[]): void {
    const damaged: string[] = [];
    for (const { name, document } of stored) {
      try {
        if (!document) throw new DocumentError("the file holds no signed document");
        this.adopt(kind, document);
        break;
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        damaged.push(`${name} is not used (${why})`);
        this.log.warn({ err: error, kind, name }, "a stored document is not used");
      }
    }
    if (damaged.length === 0) return;
    const number = this.numberOf(kind);
    const instead =
      number > 0 ? `${NUMBERED[kind]} ${number} serves instead` : "the control plane has to send it again";
    this.remarks.push(`${damaged.join(", ")}; ${instead}.`);
  }

  /** Checks a pushed document, keeps it on disk and uses it; a document that is not valid changes nothing. */
  async accept(kind: DocumentKind, document: SignedDocument): Promise<NodeAck> {
    const before = this.numberOf(kind);
    try {
      if (document.sha256 === this.acceptedSha[kind]) return this.ack(kind);
      const number = this.check(kind, document);
      const words = NUMBERED[kind];
      if (number <= before) throw new DocumentError(`${words} ${number} is not newer than ${before}`);
      if (kind === "access-list" && number < this.accessFloor)
        throw new DocumentError(
          `${words} ${number} is older than ${this.accessFloor}, which this node has held`,
        );
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
    switch (kind) {
      case "snapshot":
        return this.routing?.generation ?? 0;
      case "access-list":
        return this.accessVersion;
      case "orders":
        return this.ordered?.revision ?? 0;
    }
  }

  private ack(kind: DocumentKind): NodeAck {
    return { ok: true, generation: this.numberOf(kind), sha256: this.acceptedSha[kind] };
  }

  private check(kind: DocumentKind, document: SignedDocument): number {
    switch (kind) {
      case "snapshot":
        return this.open(document, RoutingSnapshot).generation;
      case "access-list":
        return this.open(document, AccessList).version;
      case "orders":
        return this.openOrders(document).revision;
    }
  }

  private adopt(kind: DocumentKind, document: SignedDocument): void {
    switch (kind) {
      case "snapshot":
        this.routing = this.open(document, RoutingSnapshot);
        break;
      case "access-list":
        this.access = new AccessIndex(this.open(document, AccessList));
        break;
      case "orders":
        this.ordered = this.openOrders(document);
        break;
    }
    this.acceptedSha[kind] = document.sha256;
  }

  private openOrders(document: SignedDocument): NodeOrders {
    const orders = this.open(document, NodeOrders);
    if (orders.node_id !== this.identity.nodeId) throw new DocumentError("these orders are for another node");
    return orders;
  }

  private open<T extends z.ZodType>(document: SignedDocument, schema: T): z.infer<T> {
    return openSignedDocument(document, this.identity.signingKey, schema);
  }
}
