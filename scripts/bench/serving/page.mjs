import { cpus, totalmem } from "node:os";
import { LITELLM } from "./litellm.mjs";

const AIMS = { addedMs: 1, throughput: 0.97, ofLiteLlm: 0.1, nodesMs: 1_000 };

/** The aims beside their figures. */
export function aimsOf({ overhead, throughput, nodes }) {
  const aims = [];
  if (overhead) {
    const { added } = overhead.gateway;
    aims.push({
      aim: `gateway adds under ${AIMS.addedMs} ms to a named model's request (median)`,
      figure: `${interval(added, 2)} ms; the least that a proxy in Node adds: ${interval(overhead.proxy.added, 2)} ms`,
      met: added.value < AIMS.addedMs,
    });
    aims.push({
      aim: "a tenth of what a LiteLLM proxy adds in front of the same engine",
      figure: overhead.litellm
        ? `${interval(overhead.share, 3)} of LiteLLM's ${interval(overhead.litellm.added, 2)} ms`
        : `not measured: ${firstLine(overhead.without)}`,
      met: overhead.litellm !== null && overhead.share.value <= AIMS.ofLiteLlm,
    });
  }
  for (const one of throughput ?? [])
    aims.push({
      aim: `at least ${AIMS.throughput * 100} % of the engine's tokens a second at ${one.concurrency} at once`,
      figure: `${interval(one.ratio, 3)} (${one.gateway.value.toFixed(0)} of ${one.engine.value.toFixed(0)} tokens/s)`,
      met: one.ratio.value >= AIMS.throughput,
    });
  if (nodes)
    aims.push({
      aim: `${nodes.nodes.toLocaleString("en")} simulated nodes take a new generation: all acked, p99 under 1 s`,
      figure: `p99 ${interval(nodes.helm.p99, 0)} ms, the last ${nodes.helm.most.toFixed(0)} ms (bare Socket.IO echo: p99 ${interval(nodes.echo.p99, 0)} ms); ${nodes.missing} not acked`,
      met: nodes.missing === 0 && nodes.helm.p99.value < AIMS.nodesMs,
    });
  return aims;
}

export function textOf(aims) {
  const width = Math.max(0, ...aims.map(({ aim }) => aim.length));
  return aims
    .map(({ aim, figure, met }) => `${met ? "met    " : "NOT MET"}  ${aim.padEnd(width)}  ${figure}\n`)
    .join("");
}

export function pageOf(measured, aims) {
  const { overhead, throughput, firstToken, nodes, load } = measured;
  return [
    "# Serving",
    "",
    "Made by `npm run bench:serving -- --write`: the real node's bundle with the reference engine and the bundled pair, on loopback, serving",
    "from a configuration on disk. Everything that is compared was measured in one run, by turns; in brackets 95 % intervals, by drawing",
    "whole rounds again. Client, gateway and engine share the cores below, so that every millisecond of the gateway is one less for the engine.",
    "",
    `Machine: ${cpus().length} cores (${cpus()[0]?.model.trim()}), ${(totalmem() / 1024 ** 3).toFixed(0)} GiB, Node ${process.versions.node}. Load: ${load.before.toFixed(1)} before, ${load.after.toFixed(1)} after${load.before > cpus().length / 2 ? ": it was busy with other things, so times are longer than they would be alone" : ""}.`,
    "",
    "| aim | figure | |",
    "| --- | --- | --- |",
    ...aims.map(({ aim, figure, met }) => `| ${aim} | ${figure} | ${met ? "met" : "**not met**"} |`),
    "",
    ...(firstToken ? firstTokenPart(firstToken) : []),
    ...(overhead ? overheadPart(overhead) : []),
    ...(throughput ? throughputPart(throughput) : []),
    ...(nodes ? nodesPart(nodes) : []),
  ].join("\n");
}

function firstTokenPart({ rounds, rows }) {
  return [
    "## First token by prompt length",
    "",
    `Milliseconds from sending a streamed request to its first answer token, median of ${rounds} rounds; every prompt is new, so that no cache`,
    "holds it. *Kept*: the pilot's answer after the judge's window of 8 tokens. *Escalated*: the pilot's window was judged hard and the target",
    "answers, with the transferred cache or from its own prefill. *Target direct*: named, without pilot and judge. The ratio is transfer over",
    "native; below 1 the transfer pays.",
    "",
    "| prompt tokens | kept | escalated, transferred | escalated, native | target direct | ratio |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows.map(
      (row) =>
        `| ${row.length.toLocaleString("en")} | ${interval(row.kept)} | ${interval(row.transferred)} | ${interval(row.native)} | ${interval(row.direct)} | ${interval(row.ratio, 2)} |`,
    ),
    "",
    "From the judge's word on (staging, mapping and the target's first token, or the target's prefill), which is what the transfer is about:",
    "",
    "| prompt tokens | transferred | native | ratio |",
    "| --- | --- | --- | --- |",
    ...rows.map(
      ({ length, afterJudge: one }) =>
        `| ${length.toLocaleString("en")} | ${interval(one.transferred)} | ${interval(one.native)} | ${interval(one.ratio, 2)} |`,
    ),
    "",
  ];
}

function overheadPart(found) {
  const { engine, gateway, proxy, litellm, cpu } = found;
  const row = (name, one, spent) =>
    `| ${name} | ${interval(one.total, 2)} | ${interval(one.added, 2)} | ${spent == null ? "" : spent.toFixed(2)} |`;
  return [
    "## What the gateway adds",
    "",
    `One chat request at a time for a named model (pilot, 1 answer token, prefix in the engine's cache), ${found.rounds} rounds through each door, after`,
    `${found.warmUp.toLocaleString("en")} requests through gateway and proxy that are not counted: Node compiles what it runs as it runs, and both take half as long again before. The`,
    "*bare proxy* copies bytes and reads nothing: the least that a second hop in Node costs on this machine. LiteLLM reaches the engine through",
    `a TCP pipe, and what it adds is counted from that pipe. LiteLLM ${LITELLM}, one worker, a key to check, no database.`,
    "",
    "| door | median ms | added ms | processor ms a request |",
    "| --- | --- | --- | --- |",
    `| engine's socket | ${interval(engine, 2)} | | |`,
    row("gateway", gateway, cpu.gateway),
    row("bare proxy", proxy, cpu.proxy),
    litellm ? row("LiteLLM", litellm) : `| LiteLLM | not measured: ${firstLine(found.without)} | | |`,
    "",
  ];
}

function throughputPart(found) {
  return [
    "## Throughput",
    "",
    `Streams of 24 tokens, each client sending its next one at once; segments of ${found[0]?.seconds} s by turns, ${found[0]?.segments} of each.`,
    "",
    "| at once | engine alone, tokens/s | through the gateway, tokens/s | ratio |",
    "| --- | --- | --- | --- |",
    ...found.map(
      (one) =>
        `| ${one.concurrency} | ${interval(one.engine, 0)} | ${interval(one.gateway, 0)} | ${interval(one.ratio, 3)} |`,
    ),
    "",
  ];
}

function nodesPart(found) {
  return [
    "## Many nodes",
    "",
    `${found.nodes.toLocaleString("en")} simulated nodes: real Socket.IO connections with real credentials, made in a private database, in two processes of their own; they`,
    "check the digest of a document and ack it. Time runs from before the route is changed, through the commit of the new generation, to the",
    `moment the control plane has a node's ack in hand to record. ${found.generations} generations, by turns with a bare Socket.IO server that sends the`,
    "same bytes to as many sockets and waits for their acks.",
    "",
    "| | p50 ms | p99 ms | last ms |",
    "| --- | --- | --- | --- |",
    `| control plane | ${interval(found.helm.p50, 0)} | ${interval(found.helm.p99, 0)} | ${found.helm.most.toFixed(0)} |`,
    `| bare Socket.IO | ${interval(found.echo.p50, 0)} | ${interval(found.echo.p99, 0)} | ${found.echo.most.toFixed(0)} |`,
    "",
  ];
}

function interval({ value, low, high }, digits = 1) {
  return `${value.toFixed(digits)} [${low.toFixed(digits)}, ${high.toFixed(digits)}]`;
}

const firstLine = (text) => String(text ?? "").split("\n")[0];
