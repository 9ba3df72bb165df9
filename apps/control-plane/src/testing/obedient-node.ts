import type { NodeOrders, NodeReadiness, ServingReport } from "@helm/contracts";
import type { TestControlPlane } from "./control-plane";
import { connectNode, joinNode } from "./node";

/** A double of a node: it reports as a real one would that has so many requests and obeys its orders at once. */
export async function obedientNode(control: TestControlPlane, name: string, machine: string) {
  const { id, credential } = await joinNode(control, name, { machine });
  const { socket, answer } = connectNode(control.url, credential);
  let orders: Pick<NodeOrders, "revision" | "drain" | "park"> = { revision: 0, drain: false };
  let running = 0;
  const state = (): ServingReport["state"] => {
    if (!orders.drain) return "SERVING";
    if (running > 0) return "DRAINING";
    return orders.park ? "PARKED" : "DRAINED";
  };
  const readiness = (): NodeReadiness => ({
    active_generation: 1,
    acked_generation: 1,
    access_version: 1,
    engine: {
      name: "reference",
      healthy: state() !== "PARKED",
      development: true,
      models: state() === "PARKED" ? [] : [{ id: "pilot" }, { id: "target" }],
    },
    pairs: [],
    machine,
    serving: { state: state(), since: new Date().toISOString(), running, orders_revision: orders.revision },
  });
  const report = () => socket.emitWithAck("readiness", readiness());
  socket.off("orders");
  socket.on("orders", (document, reply) => {
    orders = JSON.parse(document.document);
    reply(answer({ event: "orders", content: { ...orders }, document }));
    void report();
  });
  await report();
  return {
    id,
    socket,
    report,
    get orders() {
      return orders;
    },
    /** It has this many requests from now on, and says so. */
    runs: (requests: number) => {
      running = requests;
      return report();
    },
  };
}
