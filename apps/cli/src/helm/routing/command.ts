import type { Command } from "commander";
import type { Verb } from "../../verb";
import { addPairVerb } from "../pair-verb";
import { listNodes, orderNode, revokeNode, showNode } from "./node";
import { placePair, unplacePair } from "./placement";
import { diffSnapshots, listSnapshots, releaseSnapshot, rollbackSnapshot, showSnapshot } from "./snapshot";
import { listWorkers, revokeWorker, showWorker } from "./worker";

type AddVerb = (parent: Command, usage: string, description: string, run: Verb) => Command;
type Given = string | boolean | undefined;

const textOf = (value: Given) => (typeof value === "string" ? value : undefined);

/** What nodes are told and by whom: snapshots, nodes, workers, and where a pair may be used. */
export function addRouting(helm: Command, pair: Command, verb: AddVerb): void {
  addPairVerb(verb, pair, "place", "use the pair on these nodes and no other", (c, s, t, o) =>
    placePair(c, s, t, String(o.node)),
  ).requiredOption("--node <names>", "names of nodes, with commas between them");
  addPairVerb(verb, pair, "unplace", "use the pair on every node again", (c, s, t) => unplacePair(c, s, t));
  addNodes(helm, verb);
  const worker = helm.command("worker").description("hosts that calibrate");
  verb(worker, "list", "every worker", (c) => listWorkers(c));
  verb(worker, "show <name>", "one worker, by name or id", (c, [name = ""]) => showWorker(c, name));
  verb(worker, "revoke <name>", "end its credential for good", (c, [name = ""]) => revokeWorker(c, name));
  addSnapshots(helm, verb);
}

function addNodes(helm: Command, verb: AddVerb): void {
  const node = helm.command("node").description("hosts that serve");
  verb(node, "list", "every node", (c) => listNodes(c));
  verb(
    node,
    "show <name>",
    "one node, by name or id: what it was told, what it serves, its memory",
    (c, [n = ""]) => showNode(c, n),
  );
  verb(node, "drain <name>", "no new requests; what runs ends", (c, [n = ""], o) =>
    orderNode(c, n, "drain", { wait: o.wait === true, reason: textOf(o.reason) }),
  )
    .option("--reason <text>", "why, for the audit")
    .option("--wait", "until nothing runs there any more");
  verb(node, "undrain <name>", "requests again, once its canary has passed", (c, [n = ""], o) =>
    orderNode(c, n, "undrain", { wait: o.wait === true }),
  ).option("--wait", "until it serves");
  verb(node, "canary <name>", "every model and mapper shows again that it works", (c, [n = ""], o) =>
    orderNode(c, n, "canary", { wait: o.wait === true }),
  ).option("--wait", "until the canary has passed or failed");
  verb(node, "revoke <name>", "end its credential for good", (c, [n = ""]) => revokeNode(c, n));
}

function addSnapshots(helm: Command, verb: AddVerb): void {
  const snapshot = helm.command("snapshot").description("routing configuration, by generation");
  verb(snapshot, "list", "newest first: who, why, and who acked", (c, _, o) =>
    listSnapshots(c, Number(o.limit)),
  ).option("--limit <n>", "how many", "25");
  verb(snapshot, "show [generation]", "one generation; without a number what is in force", (c, [g]) =>
    showSnapshot(c, g),
  );
  verb(
    snapshot,
    "diff <from> [to]",
    "what two generations say differently; without the second: what the settings say",
    (c, [from = "", to]) => diffSnapshots(c, from, to),
  );
  verb(
    snapshot,
    "rollback <generation>",
    "a new generation with old content, held until released",
    (c, [g = ""], o) => rollbackSnapshot(c, g, { wait: o.wait === true, note: textOf(o.note) }),
  )
    .option("--note <text>", "why, for the history")
    .option("--wait", "until every connected node has acked or refused it");
  verb(snapshot, "release", "let the settings decide again", (c, _, o) =>
    releaseSnapshot(c, { wait: o.wait === true }),
  ).option("--wait", "until every connected node has acked or refused it");
}
