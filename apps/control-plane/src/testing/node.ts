import type { DeviceFacts, NodeAck, SignedDocument } from "@helm/contracts";
import { io } from "socket.io-client";
import { NODE_TOKEN, type TestControlPlane } from "./control-plane";

export interface TestNode {
  id: string;
  credential: string;
  signing_key: string;
}

/** A node that has joined; without devices it is a development node. */
export async function joinNode(
  control: TestControlPlane,
  name: string,
  options: { token?: string; devices?: DeviceFacts[]; machine?: string } = {},
): Promise<TestNode> {
  const token = options.token ?? (await control.as("admin").host.createJoinToken({ kind: "node" })).token;
  const joined = await control.request("POST", "/api/hosts/join", {
    json: {
      kind: "node",
      join_token: token,
      name,
      version: "0.1.0",
      device: options.devices ? "cuda" : "cpu",
      hardware: options.devices ? "allowed" : "none",
      devices: options.devices ?? [],
      url: "http://127.0.0.1:8000",
      machine: options.machine,
    },
  });
  if (joined.status !== 200) throw new Error(`the node could not join: ${JSON.stringify(joined.json)}`);
  return joined.json;
}

export const FIRST = NODE_TOKEN;
export const H200: DeviceFacts = { vendor: "nvidia", name: "NVIDIA H200", capability: "9.0" };

export interface Received {
  event: "snapshot" | "access-list" | "orders";
  content: Record<string, unknown>;
  document: SignedDocument;
}

/** A node's socket that answers every document as `answer` says; by default it takes them all. */
export function connectNode(url: string, credential: string) {
  const received: Received[] = [];
  const node = {
    received,
    answer: (one: Received): NodeAck => ({
      ok: true,
      generation: numberOf(one),
      sha256: one.document.sha256,
    }),
    of: (event: Received["event"]) => received.filter((one) => one.event === event),
    socket: io(`${url}/nodes`, {
      auth: { credential },
      transports: ["websocket"],
      addTrailingSlash: false,
      forceNew: true,
    }),
  };
  for (const event of ["snapshot", "access-list", "orders"] as const) {
    node.socket.on(event, (document: SignedDocument, reply: (ack: NodeAck) => void) => {
      const one = { event, document, content: JSON.parse(document.document) };
      received.push(one);
      reply(node.answer(one));
    });
  }
  return node;
}

export function numberOf({ content }: Received): number {
  return Number(content.generation ?? content.version ?? content.revision);
}
