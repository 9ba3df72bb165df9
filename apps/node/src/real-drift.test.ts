import { describe, expect, it } from "vitest";
import { useConversations } from "./testing/conversations";
import { hasPython, type MeasuredDrift } from "./testing/real-engine";
import { otherKey } from "./testing/test-gateway";

const tailOf = (prompt: number) => Math.min(64, Math.max(1, Math.floor(prompt / 20)));
const BLOCK = 16;

describe.runIf(hasPython())("ten alternating turns before the reference engine", () => {
  const on = useConversations("recorded");
  const { sure, ask } = on;

  it("drifts no further over ten alternating turns than the mappers do offline, and carries each span once", async () => {
    const TURNS = 10;
    const measured = await on.real.drift(2, TURNS);
    on.gateway.dials.route.max_switches = TURNS;
    const turns = Array.from({ length: TURNS }, () => ({ first: [] as number[], early: [] as number[] }));
    for (const [at, chat] of measured.chats.entries())
      await alternate(chat, measured.ends, `drift-${at}`, turns);
    const offline = mean(measured.turns.map((turn) => sixteen(turn.buckets)));
    const retention = mean(
      turns.map(({ first, early }) =>
        sixteen({ first: mean(first), early: early.length > 0 ? mean(early) : null }),
      ),
    );
    const positions = turns.flatMap(({ first, early }) => [...first, ...early]).length;
    process.stdout.write(
      `drift over ${TURNS} turns of ${measured.chats.length} chats: live ${retention.toFixed(4)} of ` +
        `${positions} positions, offline ${offline.toFixed(4)} (first 16 positions of each answer)\n`,
    );
    // Rows of a block that is not full are mapped once more live: as far as two standard errors, the same.
    const error = 2 * Math.sqrt((offline * (1 - offline)) / positions);
    expect(retention).toBeGreaterThanOrEqual(offline - Math.max(0.02, error));
  }, 240_000);

  /** Up and down by turns, each answer compared position by position with what the model says after reading all itself. */
  async function alternate(
    chat: number[][],
    ends: number[],
    session: string,
    turns: { first: number[]; early: number[] }[],
  ) {
    const held = { pilot: 0, target: 0 };
    let tokens: number[] = [];
    for (const [turn, added] of chat.entries()) {
      tokens = [...tokens, ...added];
      const model = turn % 2 === 0 ? "target" : "pilot";
      sure(model === "pilot");
      on.gateway.dials.route.hold_turns = model === "pilot" ? 1 : null;
      const said = await complete({ model, prompt: tokens, max_tokens: 64 }, ends);
      for (let position = 0; position < Math.min(16, said.length); position++) {
        const prompt = [...tokens, ...said.slice(0, position)];
        const helm = position === 0 ? { transfer: "force" } : undefined;
        const answer = await ask({ prompt, max_tokens: 1, helm }, { path: "/v1/completions", session });
        const same = Number(answer.choices[0].token_ids[0] === said[position]);
        turns[turn]?.[position === 0 ? "first" : "early"].push(same);
        expect(answer.helm.served_by).toBe(model);
        if (position > 0) continue;
        expect([turn, answer.helm.transfer]).toEqual([turn, "transferred"]);
        const most = prompt.length - tailOf(prompt.length) - held[model] + BLOCK;
        expect(answer.helm.tokens_moved).toBeLessThanOrEqual(most);
      }
      held[model] = tokens.length;
      tokens = [...tokens, ...(ends.includes(said.at(-1) ?? -1) ? said.slice(0, -1) : said)];
    }
  }

  async function complete(body: object, ends: number[]): Promise<number[]> {
    // Another tenant's: rows that a model computed itself for this one would take the place of carried ones.
    const answer = await ask(body, { path: "/v1/completions", key: otherKey });
    const ids: number[] = answer.choices[0].token_ids;
    const end = ids.findIndex((id) => ends.includes(id));
    return end < 0 ? ids : ids.slice(0, end + 1);
  }

  /** The first sixteen positions of a turn: the mean of the buckets that have any. */
  function sixteen(buckets: MeasuredDrift["turns"][number]["buckets"]): number {
    const shares = [buckets.first, buckets.early].filter((share) => typeof share === "number");
    return mean(shares);
  }
});

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
