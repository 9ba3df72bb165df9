import { missesStricterOnly } from "@helm/contracts";
import { CircleCheck, CircleX, Info, TriangleAlert } from "lucide-react";
import { Card } from "../../ui/card";
import { type Answer, answersOf, type Glanced } from "./glance-words";

const TONE = {
  good: { icon: CircleCheck, colour: "text-good-ink" },
  warn: { icon: TriangleAlert, colour: "text-warn-ink" },
  bad: { icon: CircleX, colour: "text-bad-ink" },
  plain: { icon: Info, colour: "text-ink-soft" },
} as const;

/** The questions that a person comes with, answered before any chart; then what there is to do. */
export function GlanceCard(run: Glanced) {
  // An older score of a stricter gate carries a diagnosis that it is none of.
  const answers = answersOf(run);
  const stricter = missesStricterOnly(run.assessment);
  const steps = (run.assessment.advice ?? []).filter(
    ({ code }) => !(stricter && (code === "TARGET_SENSITIVE" || code === "MAP_WRONG")),
  );
  return (
    <Card title="At a glance">
      <dl
        className={`grid gap-x-6 gap-y-4 sm:grid-cols-2 ${answers.length > 4 ? "lg:grid-cols-3 xl:grid-cols-5" : "xl:grid-cols-4"}`}
      >
        {answers.map((answer) => (
          <OneAnswer key={answer.question} {...answer} />
        ))}
      </dl>
      {steps.length > 0 ? (
        <ul aria-label="What to do" className="mt-4 space-y-2 border-t border-line pt-4">
          {steps.map(({ code, message }) => (
            <li key={code} className="rounded-lg bg-warn-wash px-3 py-2 text-[0.8125rem] text-warn-ink">
              <b className="font-semibold">{code}</b>: {message}
            </li>
          ))}
        </ul>
      ) : null}
    </Card>
  );
}

function OneAnswer({ question, answer, rest, tone }: Answer) {
  const { icon: Icon, colour } = TONE[tone];
  return (
    <div className="min-w-0">
      <dt className="text-[0.8125rem] text-ink-soft">{question}</dt>
      <dd>
        <span className="flex items-start gap-1.5 text-lg leading-7 font-semibold tracking-tight">
          <Icon aria-hidden="true" className={`mt-1.5 size-4 shrink-0 ${colour}`} strokeWidth={2.25} />
          <span className="min-w-0">{answer}</span>
        </span>
        <span className="mt-0.5 block text-[0.8125rem] text-ink-soft">{rest}</span>
      </dd>
    </div>
  );
}
