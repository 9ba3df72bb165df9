import { noCapacity } from "../errors/gateway-error";

/** One tenant may hold at most so many times what is left free: whoever comes next finds room, however many hold some. */
const TIMES_FREE = 3;

/** What the bodies of all requests under way may take together: a client that sends and waits holds memory, too. */
export class BodyRoom {
  private held = 0;
  private readonly byTenant = new Map<string, number>();

  constructor(private readonly most: number) {}

  get bytes(): number {
    return this.held;
  }

  /** Room for one request's body, given back by `leave`. */
  enter(tenant: string): BodyHold {
    let own = 0;
    let open = true;
    return {
      take: (bytes) => {
        // A reader that was given up may still be handed what comes in.
        if (!open || !this.hasRoom(tenant, bytes))
          throw noCapacity("This node holds as many request bodies as it has memory for.");
        this.change(tenant, bytes);
        own += bytes;
      },
      leave: () => {
        open = false;
        this.change(tenant, -own);
        own = 0;
      },
    };
  }

  private hasRoom(tenant: string, bytes: number): boolean {
    const left = this.most - this.held - bytes;
    return left >= 0 && (this.byTenant.get(tenant) ?? 0) + bytes <= TIMES_FREE * left;
  }

  private change(tenant: string, bytes: number): void {
    this.held += bytes;
    const now = (this.byTenant.get(tenant) ?? 0) + bytes;
    if (now > 0) this.byTenant.set(tenant, now);
    else this.byTenant.delete(tenant);
  }
}

export interface BodyHold {
  /** Throws GatewayError 503 where there is no room for so many bytes more. */
  take(bytes: number): void;
  leave(): void;
}
