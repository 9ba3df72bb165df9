import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../lib/paths.mjs";

const bundled = (name) =>
  readFileSync(join(ROOT, "corpora", "bundled", name), "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** A spread of verifiable tasks over all kinds and levels. */
export function someTasks(count) {
  const tasks = bundled("tasks.jsonl");
  const step = tasks.length / count;
  return Array.from({ length: count }, (_, at) => tasks[Math.floor((at + 0.5) * step)]);
}

/** A prompt of many tokens: a few paragraphs of the bundled corpus and a request about them. */
export function longPrompt(characters, which = 0) {
  const { text } = bundled("long.jsonl")[which];
  const plain = text.replaceAll(/<\|[a-z]+\|>/g, " ").slice(0, characters);
  return [{ role: "user", content: `${plain}\n\nContinue the text.` }];
}

/** Asks the pilot and keeps what the judge would see: the mean log-probability of the first tokens. */
export async function rankByConfidence(client, pilot, tasks, window) {
  const ranked = [];
  for (const task of tasks) {
    const answer = await client.chat.completions.create({
      model: pilot,
      messages: task.prompt,
      max_tokens: 24,
      temperature: 0,
      logprobs: true,
    });
    const seen = answer.choices[0].logprobs.content.slice(0, window).map((token) => token.logprob);
    ranked.push({ ...task, mean: seen.reduce((sum, value) => sum + value, 0) / seen.length });
  }
  return ranked.sort((a, b) => b.mean - a.mean);
}
