import { noCapacity } from "./gateway-error";

/** What the bodies of all requests under way may take together: a client that sends and waits holds memory, too. */
export class BodyRoom {
  private held = 0;

  constructor(private readonly most: number) {}

  get bytes(): number {
    return this.held;
  }

  /** Room for one request's body, given back by `leave`. */
  enter(): BodyHold {
    let own = 0;
    let open = true;
    return {
      take: (bytes) => {
        // A reader that was given up may still be handed what comes in.
        if (!open || this.held + bytes > this.most)
          throw noCapacity("This node holds as many request bodies as it has memory for.");
        this.held += bytes;
        own += bytes;
      },
      leave: () => {
        open = false;
        this.held -= own;
        own = 0;
      },
    };
  }
}

export interface BodyHold {
  /** Throws GatewayError 503 where there is no room for so many bytes more. */
  take(bytes: number): void;
  leave(): void;
}
