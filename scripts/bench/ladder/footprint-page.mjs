import { addedBytes } from "./footprint.mjs";

const mib = (bytes) => (bytes / 1024 ** 2).toFixed(1);

/** What the second model costs, and of what: measured for a process by the system, for its parts by the engine. */
export function footprintOf(second, memory, memoryAfter) {
  const added = addedBytes(second);
  const { target } = second.bothParts.models;
  const { runtime_bytes: runtime, runtime_file_bytes: files, models } = second.secondParts;
  const own = models.target;
  return `## The second model's whole footprint

Engines of their own, ${second.clients} clients at once for each model that one serves. *Share* is the proportional set size: a page of a library
that two processes have counts half in each.

| | resident (MiB) | share (MiB) | of it anonymous | of it files |
| --- | --- | --- | --- | --- |
${[
  ["an engine with the pilot alone, after its load", second.alone],
  ["one engine with both, after their canary", second.bothIdle],
  ["after the pilot's load", second.bothSame],
  ["after the target's load as well", second.both],
  ["a second engine with the target, after its canary", second.secondIdle],
  ["after its load", second.second],
  ["the pilot's engine meanwhile", second.aloneBeside],
]
  .map(([what, m]) => `| ${what} | ${mib(m.rss)} | ${mib(m.pss)} | ${mib(m.own)} | ${mib(m.files)} |`)
  .join("\n")}

In the one engine the second model adds ${mib(added.inside)} MiB (${mib(added.insideResident)} resident): ${mib(target.weights_bytes)} MiB are weights, ${mib(target.load_bytes)} MiB the process grew by while they were
loaded, ${mib(target.kv_touched_bytes)} MiB pages of its cache that were written; the rest is working memory and what repeated loads leave. Its cache may come to ${mib(target.kv_budget_bytes)} MiB.

As an engine of its own it is a process of ${mib(second.second.rss)} MiB, ${mib(added.beside)} MiB more than the first alone: ${mib(runtime)} MiB are Python, PyTorch and their libraries before any
model is loaded (${mib(files)} MiB of them files that both engines share), ${mib(own.load_bytes)} MiB loading, ${mib(own.kv_touched_bytes)} MiB pages of its cache. Two processes pay for
the runtime twice, which is why the reference engine serves both models in one.

| | weights (MiB) | cache budget (MiB) |
| --- | --- | --- |
${Object.entries(memory.models)
  .map(([name, model]) => `| ${name} | ${mib(model.weights_bytes)} | ${mib(model.kv_budget_bytes)} |`)
  .join("\n")}

Of the product's engine ${mib(memory.process_resident_bytes)} MiB were resident before and ${mib(memoryAfter.process_resident_bytes)} MiB after the run.`;
}
