import { ESCALATED, KEPT } from "../../lib/standalone-node.mjs";
import { median, overRounds, seeded, shuffled } from "./figures.mjs";

export const LENGTHS = [64, 256, 1_024, 3_000];
// Ordinary tokens of the bundled tokenizer: what lies below are its marks.
const [FIRST_ID, LAST_ID] = [300, 1_000];

const PATHS = {
  kept: { model: KEPT, expect: ["kept", "none"] },
  transferred: { model: ESCALATED, helm: { transfer: "force" }, expect: ["escalated", "transferred"] },
  native: { model: ESCALATED, helm: { transfer: "off" }, expect: ["escalated", "none"] },
  direct: { model: "target", expect: ["explicit", "none"] },
};

/** First answer token at the client by way and prompt length; every prompt is new, so that no prefix was seen before. */
export async function measureFirstToken(open, { rounds, lengths = LENGTHS, say }) {
  const random = seeded(3);
  const rows = [];
  for (const length of lengths) {
    const times = [];
    for (let round = 0; round <= rounds; round++) {
      const one = {};
      for (const name of shuffled(Object.keys(PATHS), random)) {
        const prompt = Array.from({ length }, () => FIRST_ID + Math.floor(random() * (LAST_ID - FIRST_ID)));
        one[name] = await askOnce(open.doors.gateway, name, prompt);
      }
      // The first of each length warms up and is not counted.
      if (round > 0) times.push(one);
    }
    say(`${length} tokens: ${rounds} rounds of the four ways`);
    rows.push(summarize(length, times));
  }
  return { rounds, rows };
}

async function askOnce(door, name, prompt) {
  const { expect, ...path } = PATHS[name];
  const body = { ...path, prompt, max_tokens: 8, temperature: 0, stream: true };
  const answer = await door.ask("/v1/completions", body);
  const took = [answer.headers["x-helm-decision"], answer.headers["x-helm-transfer"]];
  if (took.join() !== expect.join()) {
    throw new Error(
      `${name} at ${prompt.length} tokens went another way: ${took.join()}, ${answer.headers["x-helm-reason"]}`,
    );
  }
  const helm = /"helm":\s*(\{.*\})\}\s*\n\ndata: \[DONE\]/.exec(answer.text);
  const timing = helm ? JSON.parse(helm[1]).timing : null;
  return { firstMs: answer.firstMs, afterJudgeMs: timing?.first_token_ms ?? null };
}

function summarize(length, times) {
  const first = (name) => overRounds(times, (drawn) => median(drawn.map((one) => one[name].firstMs)));
  const after = (name) => overRounds(times, (drawn) => median(drawn.map((one) => one[name].afterJudgeMs)));
  const ratio = (of) =>
    overRounds(
      times,
      (drawn) => median(drawn.map((one) => one.transferred[of])) / median(drawn.map((one) => one.native[of])),
    );
  return {
    length,
    kept: first("kept"),
    transferred: first("transferred"),
    native: first("native"),
    direct: first("direct"),
    ratio: ratio("firstMs"),
    afterJudge: { transferred: after("transferred"), native: after("native"), ratio: ratio("afterJudgeMs") },
  };
}
