import { DECISION_WORDS, type PlaygroundAnswer, type PlaygroundSide } from "@helm/contracts";
import Link from "next/link";
import { Badge } from "../../ui/badge";
import { Card, Facts } from "../../ui/card";
import { count, milliseconds } from "../../ui/numbers";
import { SaidText } from "../../ui/said-text";
import { Loading } from "../../ui/states";
import { reasonWords } from "../traffic/traffic-words";

const SIDE_WORDS: Record<PlaygroundSide, { title: string; hint: string }> = {
  pilot: { title: "Pilot", hint: "The small model, named. It still holds the prompt from the route." },
  target: { title: "Target", hint: "The large model, named." },
  routed: { title: "Through the route", hint: "As any caller gets it: what Helm decided, and what it cost." },
};

/** One side: what it said, who said it, and what it took. */
export function AnswerCard({
  side,
  answer,
  running,
}: {
  side: PlaygroundSide;
  answer: PlaygroundAnswer | undefined;
  running: boolean;
}) {
  const { title, hint } = SIDE_WORDS[side];
  return (
    <Card
      title={title}
      hint={hint}
      action={answer?.decision ? <Badge tone="accent">{answer.decision}</Badge> : null}
    >
      {answer ? (
        <Answered answer={answer} />
      ) : running ? (
        <Loading rows={2} label={`Waiting for: ${title}`} />
      ) : (
        <p className="text-ink-soft">Not asked: the question ended before.</p>
      )}
    </Card>
  );
}

function Answered({ answer }: { answer: PlaygroundAnswer }) {
  return (
    <>
      {answer.error ? (
        <p className="rounded-lg bg-bad-wash px-3 py-2 text-bad-ink [overflow-wrap:anywhere]">
          {answer.status} {answer.error.code}: {answer.error.message}
        </p>
      ) : null}
      {answer.text || !answer.error ? (
        <SaidText
          label={`Answer: ${SIDE_WORDS[answer.side].title}`}
          text={answer.text || "(an empty answer)"}
        />
      ) : null}
      {answer.cut ? <p className="mt-1 text-[0.8125rem] text-ink-soft">The answer is cut here.</p> : null}
      <div className="mt-2">
        <Facts rows={factsOf(answer)} />
      </div>
    </>
  );
}

function factsOf(answer: PlaygroundAnswer): Parameters<typeof Facts>[0]["rows"] {
  const tokens = (value: number | null) => (value === null ? "not counted" : count(value));
  return [
    ["Answered by", answer.model ?? "nobody"],
    ["First token", milliseconds(answer.first_token_ms)],
    ["In all", milliseconds(answer.total_ms)],
    ["Tokens", `${tokens(answer.prompt_tokens)} in, ${tokens(answer.completion_tokens)} out`],
    ...(answer.side === "routed" ? decidedOf(answer) : []),
    ...(answer.trace_id
      ? ([
          [
            "Trace",
            <Link
              key="trace"
              href={`/traffic/${answer.trace_id}`}
              className="font-mono text-[0.8125rem] underline underline-offset-4 [overflow-wrap:anywhere]"
            >
              {answer.trace_id}
            </Link>,
          ],
        ] as Parameters<typeof Facts>[0]["rows"])
      : []),
  ];
}

function decidedOf(answer: PlaygroundAnswer): [string, string][] {
  return [
    ["Decided", answer.decision ? DECISION_WORDS[answer.decision] : "nothing"],
    ["Reason", answer.reason ? `${answer.reason}: ${reasonWords(answer.reason)}` : "none"],
    [
      "Transfer",
      answer.transfer === "transferred" ? movedWords(answer.tokens_moved) : (answer.transfer ?? "none"),
    ],
  ];
}

/** The target was asked the same just before, so it may hold all of the prompt already. */
function movedWords(moved: number | null): string {
  if (moved === null) return "carried across; how many tokens was not told";
  return moved === 0
    ? "used, with 0 tokens carried across: the target still held the prompt"
    : `${count(moved)} tokens carried across`;
}
