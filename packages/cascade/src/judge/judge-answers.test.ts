import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { summariseLogprobs } from "../evidence";
import { answerOf, servedJudge } from "../testing";
import { type JudgeThresholds, judgeAnswers as judge } from "./judge-answers";
import { scoreAnswer } from "./score-answer";

const judgeAnswers = (answers: readonly (readonly (number | null)[])[], bounds: JudgeThresholds) =>
  judge(
    answers.map((logprobs) => answerOf(logprobs)),
    { kind: "bounds", ...bounds },
  );

const logprob = fc.double({ min: -30, max: 0, noNaN: true });
const answer = fc.array(logprob, { minLength: 1, maxLength: 40 });
const thresholds = fc.record({ mean_logprob: logprob, min_logprob: logprob });

describe("the first judge", () => {
  it("escalates exactly when mean or minimum is below its bound", () => {
    fc.assert(
      fc.property(answer, thresholds, (tokens, bounds) => {
        const summary = summariseLogprobs(tokens);
        if (summary === null) throw new Error("these values are evidence");
        const hard = summary.mean < bounds.mean_logprob || summary.min < bounds.min_logprob;
        expect(judgeAnswers([tokens], bounds).outcome).toBe(hard ? "escalate" : "keep");
      }),
    );
  });

  it("lets the least sure of several answers decide, in any order", () => {
    fc.assert(
      fc.property(fc.array(answer, { minLength: 1, maxLength: 5 }), thresholds, (answers, bounds) => {
        const alone = answers.map((tokens) => judgeAnswers([tokens], bounds).outcome);
        const together = judgeAnswers(answers, bounds);
        expect(together.outcome).toBe(alone.includes("escalate") ? "escalate" : "keep");
        expect(judgeAnswers([...answers].reverse(), bounds).outcome).toBe(together.outcome);
      }),
    );
  });

  it("never keeps more when a bound rises", () => {
    fc.assert(
      fc.property(answer, thresholds, fc.double({ min: 0, max: 5, noNaN: true }), (tokens, bounds, rise) => {
        if (judgeAnswers([tokens], bounds).outcome !== "escalate") return;
        const stricter = { mean_logprob: bounds.mean_logprob + rise, min_logprob: bounds.min_logprob + rise };
        expect(judgeAnswers([tokens], stricter).outcome).toBe("escalate");
      }),
    );
  });

  it("has no opinion without evidence, however good the rest looks", () => {
    fc.assert(
      fc.property(
        answer,
        fc.constantFrom(null, Number.NaN, Number.NEGATIVE_INFINITY, 0.5),
        fc.nat(),
        thresholds,
        (tokens, bad, at, bounds) => {
          const spoiled: (number | null)[] = [...tokens];
          spoiled[at % spoiled.length] = bad;
          expect(judgeAnswers([[-0.1], spoiled], bounds)).toEqual({ outcome: "no_evidence" });
        },
      ),
    );
    expect(judgeAnswers([], { mean_logprob: -1, min_logprob: -5 })).toEqual({ outcome: "no_evidence" });
    expect(judgeAnswers([[]], { mean_logprob: -1, min_logprob: -5 })).toEqual({ outcome: "no_evidence" });
  });

  it("keeps the mean between the minimum and zero", () => {
    fc.assert(
      fc.property(answer, (tokens) => {
        const summary = summariseLogprobs(tokens);
        expect(summary).not.toBeNull();
        expect(summary?.mean).toBeGreaterThanOrEqual(summary?.min ?? 0);
        expect(summary?.mean).toBeLessThanOrEqual(0);
        expect(summary?.count).toBe(tokens.length);
      }),
    );
  });
});

describe("a table's judge", () => {
  const probability = fc.double({ min: 0, max: 1.01, noNaN: true });

  it("escalates exactly from its threshold on, by the least sure of several answers", () => {
    fc.assert(
      fc.property(fc.array(answer, { minLength: 1, maxLength: 4 }), probability, (answers, threshold) => {
        const table = servedJudge({ threshold });
        const scores = answers.map((logprobs) => scoreAnswer(table, answerOf(logprobs)) ?? Number.NaN);
        const found = judge(
          answers.map((logprobs) => answerOf(logprobs)),
          { kind: "table", table },
        );
        const worst = Math.max(...scores);
        expect(found).toMatchObject({
          outcome: worst >= threshold ? "escalate" : "keep",
          reason: worst >= threshold ? "JUDGED_HARD" : "CONFIDENT",
          evidence: { version: "logistic-1", score: worst, threshold },
        });
      }),
    );
  });

  it("never keeps less when its threshold rises", () => {
    fc.assert(
      fc.property(answer, probability, probability, (logprobs, one, other) => {
        const outcome = (threshold: number) =>
          judge([answerOf(logprobs)], { kind: "table", table: servedJudge({ threshold }) }).outcome;
        if (outcome(Math.max(one, other)) === "escalate")
          expect(outcome(Math.min(one, other))).toBe("escalate");
      }),
    );
  });

  it("has no opinion where the engine did not name what the table reads", () => {
    const table = servedJudge({
      features: [{ name: "min_margin", mean: 0, scale: 1, weight: -1 }],
    });
    const silent = answerOf([-0.1, -0.2], { margin: null });
    expect(judge([silent], { kind: "table", table })).toEqual({ outcome: "no_evidence" });
    expect(judge([answerOf([-0.1, -0.2])], { kind: "table", table }).outcome).toBe("keep");
  });
});

describe("a table whose numbers leave the range of numbers", () => {
  it("keeps nothing: it has no opinion", () => {
    const features = [
      { name: "mean_logprob", mean: 1e308, scale: 1e-300, weight: 1e308 },
      { name: "min_logprob", mean: -1e308, scale: 1e-300, weight: 1e308 },
    ] as const;
    const table = servedJudge({ features: [...features], threshold: 0.5 });
    expect(judge([answerOf([-0.1, -0.2])], { kind: "table", table })).toEqual({ outcome: "no_evidence" });
  });
});

describe("an answer that breaks the format", () => {
  const sure: JudgeThresholds = { mean_logprob: -9, min_logprob: -9 };
  const outcome = (text: string, finish: string | null, wantsJson = true) =>
    judge([answerOf([-0.1], { text, finish, wantsJson })], { kind: "bounds", ...sure });

  it("is hard however sure the pilot was, once it is whole", () => {
    expect(outcome("{ no", "stop")).toMatchObject({ outcome: "escalate", reason: "FORMAT_BROKEN" });
    expect(outcome("{ no", null).outcome).toBe("keep");
    expect(outcome("{ no", "length").outcome).toBe("keep");
    expect(outcome("{ no", "stop", false).outcome).toBe("keep");
    expect(outcome('{"a": 1}<|im_end|>', "stop").outcome).toBe("keep");
  });
});
