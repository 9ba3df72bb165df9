import { Tally } from "./load.mjs";

/** After a failure, so that one that repeats does not fill the run. */
const PAUSE_MS = 1_000;

/**
 * Two long requests where the budget holds one, beside short ones that come all the time. A long one that is refused comes back
 * with its ticket when the refusal said, as a client would.
 */
export async function shortBudget(door, { model, prompts, golden, maxTokens, long, seconds, shorts }) {
  const until = performance.now() + 1000 * seconds;
  const tally = new Tally(golden);
  const longs = { completed: 0, refusals: [], kept: 0, broken: 0, failed: 0, whys: new Map() };
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
      if (answer.kind !== "refused" || answer.helm === null) {
        const why = answer.why ?? answer.code;
        longs.failed += 1;
        longs.whys.set(why, (longs.whys.get(why) ?? 0) + 1);
        ticket = null;
        await new Promise((done) => setTimeout(done, PAUSE_MS));
        continue;
      }
      // Promised with a ticket, and refused all the same.
      if (ticket) longs.broken += 1;
      longs.refusals.push(answer.helm);
      ticket = answer.helm.ticket;
      await new Promise((done) => setTimeout(done, answer.helm.retry_after_ms));
    }
  };
  await Promise.all([...Array.from({ length: shorts }, short), large(), large()]);
  return {
    shorts: { ...tally.counts, whys: tally.whys, rate: tally.counts.correct / seconds },
    longs,
    seconds,
  };
}
