// A process of its own: many SIMULATED nodes. Their connections and credentials are real; they serve nothing.
import { createHash } from "node:crypto";
import type { NodeAck, SignedDocument } from "@helm/contracts";
import { io } from "socket.io-client";

export interface CrowdTask {
  url: string;
  namespace: string;
  credentials: string[];
}

const AT_ONCE = 20;
const KINDS = { snapshot: "generation", "access-list": "version", orders: "revision" } as const;

async function open({ url, namespace, credentials }: CrowdTask): Promise<void> {
  for (let first = 0; first < credentials.length; first += AT_ONCE)
    await Promise.all(credentials.slice(first, first + AT_ONCE).map((one) => openOne(url + namespace, one)));
}

async function openOne(url: string, credential: string): Promise<void> {
  const socket = io(url, {
    transports: ["websocket"],
    addTrailingSlash: false,
    forceNew: true,
    auth: { credential },
    timeout: 60_000,
  });
  for (const [event, number] of Object.entries(KINDS))
    socket.on(event, (document: SignedDocument, reply: (ack: NodeAck) => void) => {
      const sha256 = createHash("sha256").update(document.document).digest("hex");
      const content = JSON.parse(document.document) as Record<string, number>;
      reply({ ok: sha256 === document.sha256, generation: content[number] ?? 0, sha256 });
    });
  await new Promise<void>((resolve) => socket.once("connect", resolve));
  // From here on a lost connection is a fault: nobody may miss a generation.
  socket.on("disconnect", (why) => {
    console.error(`a simulated node was disconnected: ${why}`);
    process.exit(1);
  });
}

process.on("message", (task: CrowdTask) => {
  open(task).then(
    () => process.send?.("ready"),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
