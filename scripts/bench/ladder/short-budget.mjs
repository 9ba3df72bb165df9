import { Tally } from "./load.mjs";

/**
 * Two long requests where the budget holds one, beside short ones that come all the time. A long one that is refused comes back
 * with its ticket when the refusal said, as a client would.
 */
export async function shortBudget(door, { model, prompts, golden, maxTokens, long, seconds, shorts }) {
  const until = performance.now() + 1000 * seconds;
  const tally = new Tally(golden);
  const longs = { completed: 0, refusals: [], kept: 0, broken: 0 };
  let next = 0;
  const short = async () => {
    while (performance.now() < until) {
      const prompt = next++ % prompts.length;
      tally.add(await door.ask({ model, messages: prompts[prompt], max_tokens: maxTokens }), prompt, model);
    }
  };
  const large = async () => {
    let ticket = null;
    while (performance.now() < until || ticket !== null) {
      const body = { model, messages: long.messages, max_tokens: long.maxTokens, ignore_eos: true };
      const answer = await door.ask(body, ticket ? { "x-helm-ticket": ticket } : {});
      if (answer.kind === "complete") {
        longs.completed += 1;
        if (ticket) longs.kept += 1;
        ticket = null;
        continue;
      }
      if (answer.kind !== "refused" || answer.helm === null)
        throw new Error(`a long request: ${answer.why ?? answer.code}`);
      // Promised with a ticket, and refused all the same.
      if (ticket) longs.broken += 1;
      longs.refusals.push(answer.helm);
      ticket = answer.helm.ticket;
      await new Promise((done) => setTimeout(done, answer.helm.retry_after_ms));
    }
  };
  await Promise.all([...Array.from({ length: shorts }, short), large(), large()]);
  return { shorts: { ...tally.counts, rate: tally.counts.correct / seconds }, longs, seconds };
}
