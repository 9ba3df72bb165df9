import type { SignedDocument } from "@helm/contracts";
import type { Socket } from "socket.io";
import { expect, it } from "vitest";
import type { Services } from "../context";
import { createLog } from "../logging";
import { until } from "../testing/until";
import { type Desk, DocumentSender } from "./document-sender";
import type { NewestDocuments } from "./newest-documents";

const document = (name: string): SignedDocument => ({ document: name, sha256: name, signature: "" });
const both = (n: number): NewestDocuments => ({
  generation: n,
  snapshot: document(`snapshot ${n}`),
  version: n,
  accessList: document(`access list ${n}`),
});

/** A double of a node's socket, which answers to everything at once, and of what all sockets read from. */
function nodeThatAnswers(newest: Desk["newest"]) {
  const taken: string[] = [];
  const socket = {
    connected: true,
    data: { actor: { kind: "host", hostKind: "node", id: "n", name: "n" } },
    handshake: { address: "127.0.0.1" },
    timeout: () => ({
      emitWithAck: async (_: string, { sha256 }: SignedDocument) => {
        taken.push(sha256);
        return { ok: true, generation: 1, sha256 };
      },
    }),
  } as unknown as Socket;
  const desk: Desk = { newest, node: async () => undefined, acks: { record: async () => {} } };
  const services = { log: createLog("silent") } as unknown as Services;
  return { taken, sender: new DocumentSender(services, socket, desk) };
}

it("sends no snapshot before the access list it was made with, also where both change in between", async () => {
  let reads = 0;
  // The list's lane has read the first documents; before the snapshot's lane reads, both change.
  const { taken, sender } = nodeThatAnswers(async () => both(reads++ === 0 ? 1 : 2));
  sender.push();
  await until(
    () => taken.includes("snapshot 2"),
    (sent) => sent,
  );
  expect(taken).toEqual(["access list 1", "access list 2", "snapshot 2"]);
});

it("sends each document once", async () => {
  const { taken, sender } = nodeThatAnswers(async () => both(1));
  sender.push();
  await until(
    () => taken.length,
    (sent) => sent === 2,
  );
  sender.push();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(taken).toEqual(["access list 1", "snapshot 1"]);
});
