import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { facts, runEvents } from "../apps/control-plane/src/testing/worker";

/**
 * A double of the Python library: an executable that answers `doctor`, `inspect` and `guard` (a host with memory to spare),
 * and whose `calibrate` says the events of a run that clears the gate within `jobMs`, writes a mapper of its own, and notes
 * its begin and end in a ledger.
 */
export class ScriptedLibrary {
  constructor(folder, { names, jobMs }) {
    this.ledger = join(folder, "jobs.ndjson");
    this.models = join(folder, "models");
    this.python = join(folder, "scripted-python");
    for (const name of names) {
      mkdirSync(join(this.models, name), { recursive: true });
      writeFileSync(join(this.models, name, "config.json"), "{}");
    }
    const known = Object.fromEntries(names.map((name) => [name, facts(name)]));
    const events = runEvents(Buffer.alloc(0), { share: 1 });
    const said = join(folder, "said.json");
    writeFileSync(said, JSON.stringify({ known, events }));
    writeFileSync(this.ledger, "");
    writeFileSync(this.python, programOf({ said, ledger: this.ledger, jobMs }), { mode: 0o755 });
  }

  /** What jobs noted: {what: "begin" | "end" | "stopped", pid, pair, sha256?}, in the order in which they did. */
  noted() {
    return readFileSync(this.ledger, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }
}

function programOf({ said, ledger, jobMs }) {
  return `#!${process.execPath}
const { appendFileSync, mkdirSync, readFileSync, writeFileSync } = require("node:fs");
const { createHash } = require("node:crypto");
const { basename, join } = require("node:path");
const [, , verb, ...rest] = process.argv.slice(2);
const option = (name) => rest[rest.indexOf(name) + 1];
const emit = (event) => console.log(JSON.stringify({ v: 1, ...event, at: new Date().toISOString() }));
const memory = { total_bytes: 2 ** 36, free_bytes: 2 ** 35, used_bytes: 2 ** 35 };
const free = { kind: "cpu", name: "this host", memory, utilisation: null, processes: [], problems: [] };
const { known, events } = JSON.parse(readFileSync(${JSON.stringify(said)}, "utf8"));
if (verb === "doctor") emit({ type: "doctor", devices: [], torch: "2" });
else if (verb === "guard") emit({ type: "guard", device: free });
else if (verb === "inspect") emit({ type: "inspection", facts: known[basename(rest[0])] });
else calibrate();

async function calibrate() {
  const [source, target] = ["--source-model", "--target-model"].map((name) => known[basename(option(name))]);
  const pair = source.id + " -> " + target.id;
  const note = (what, more) =>
    appendFileSync(${JSON.stringify(ledger)}, JSON.stringify({ what, pid: process.pid, pair, ...more }) + "\\n");
  process.on("SIGTERM", () => { note("stopped"); process.exit(130); });
  note("begin");
  const mapper = Buffer.from("mapper of process " + process.pid);
  const sha256 = createHash("sha256").update(mapper).digest("hex");
  const folder = join(option("--out"), sha256);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "mapper.safetensors"), mapper);
  const artifact = { sha256, path: join(folder, "mapper.safetensors"), bytes: mapper.length };
  for (const event of events) {
    if (event.type === "started")
      emit({ ...event, pair: { source, target }, k: Number(option("--k")), corpus: { name: "small" } });
    else if (event.type === "result") emit({ ...event, artifact });
    else emit(event);
    await new Promise((resolve) => setTimeout(resolve, ${jobMs} / events.length));
  }
  note("end", { sha256 });
}
`;
}
