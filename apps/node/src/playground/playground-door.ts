import { PlaygroundOrder, type PlaygroundReply } from "@helm/contracts";
import type { Logger } from "pino";
import { askGateway } from "./ask-gateway";
import type { PlaygroundKey } from "./playground-key";

export interface DoorParts {
  key: PlaygroundKey;
  /** Null before the gateway listens. */
  origin: () => string | null;
  /** The models of a route as this node serves it; null where it has none of the name. */
  route: (name: string) => { pilot: string; target: string } | null;
}

/** Of all people together: their questions must not push aside those of tenants. */
const AT_A_TIME = 2;

/** Takes questions from the control plane's socket and asks this node's own gateway. */
export class PlaygroundDoor {
  private readonly running = new Map<string, AbortController>();

  constructor(
    private readonly parts: DoorParts,
    private readonly log: Logger,
  ) {}

  async take(payload: unknown): Promise<PlaygroundReply> {
    const parsed = PlaygroundOrder.safeParse(payload);
    if (!parsed.success) return refused("BAD_REQUEST", "The node cannot read this question.");
    const order = parsed.data;
    const route = this.parts.route(order.route);
    if (!route) return refused("NO_ROUTE", `This node has no route ${order.route}.`);
    const origin = this.parts.origin();
    if (!origin) return refused("NOT_LISTENING", "This node's gateway does not listen yet.");
    if (this.running.has(order.id) || this.running.size >= AT_A_TIME)
      return refused("BUSY", `This node answers ${AT_A_TIME} questions at a time; ask again in a moment.`);
    const controller = new AbortController();
    this.running.set(order.id, controller);
    const signal = AbortSignal.any([controller.signal, AbortSignal.timeout(order.deadline_ms)]);
    const model = order.side === "routed" ? order.route : route[order.side];
    try {
      const answer = await askGateway(order, { origin, secret: this.parts.key.secret, model, signal });
      return { ok: true, answer };
    } catch (error) {
      if (controller.signal.aborted) return refused("CANCELLED", "It was cancelled.");
      if (signal.aborted) return refused("TIMEOUT", "The node did not answer in time.");
      this.log.warn({ err: error }, "a playground question could not be asked");
      return refused("FAILED", "The node could not ask its own gateway.");
    } finally {
      this.running.delete(order.id);
    }
  }

  cancel(payload: unknown): void {
    const id = PlaygroundOrder.shape.id.safeParse((payload as { id?: unknown } | null)?.id);
    if (id.success) this.running.get(id.data)?.abort();
  }
}

function refused(code: string, message: string): PlaygroundReply {
  return { ok: false, code, message };
}
