"use client";

import { PlaygroundSide } from "@helm/contracts";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { QueryView } from "../../api/query-view";
import { useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { Card, PageHeader } from "../../ui/card";
import { Command } from "../../ui/command";
import { Empty } from "../../ui/states";
import { command } from "../shell/commands";
import { Terminal } from "../shell/terminal-card";
import { AnswerCard } from "./answer-card";
import { type Asked, AskQuestion } from "./ask-form";
import { type Question, useQuestion } from "./use-question";

type Draft = Pick<Asked, "route" | "nodeId" | "prompt" | "maxTokens">;

/** One prompt, the two models and the route side by side; the same as a caller's request. */
export function PlaygroundPage() {
  const trpc = useTRPC();
  const nodes = useQuery(trpc.node.list.queryOptions());
  const routes = useQuery(trpc.route.list.queryOptions());
  const { id, question, ask, cancel } = useQuestion();
  const [draft, setDraft] = useState<Draft | null>(null);
  const asked = question.data;
  const node = nodes.data?.find((one) => one.id === (draft?.nodeId ?? asked?.node.id)) ?? nodes.data?.[0];
  const route = draft?.route ?? asked?.ask.route ?? routes.data?.[0]?.name ?? "helm-auto";
  return (
    <>
      <PageHeader
        title="Playground"
        lead="One prompt, asked of the pilot, of the target and through the route, one after the other. The node asks its own gateway: admission, judge and transfer are those of any caller, and the requests are counted as Playground's."
      />
      <Card title="Ask">
        <QueryView query={nodes} label="Loading the nodes" rows={4}>
          {(known) => (
            <QueryView query={routes} label="Loading the routes" rows={4}>
              {(ways) =>
                known.length === 0 ? (
                  <Empty title="No node yet" command={command.nodes}>
                    A question is asked of a node: the Nodes page has the command that joins one.
                  </Empty>
                ) : ways.length === 0 ? (
                  <Empty title="No route yet" command={command.createRoute("helm-auto")}>
                    A route names the pair that is asked: create one on the Helm page.
                  </Empty>
                ) : (
                  <AskQuestion
                    nodes={known}
                    routes={ways}
                    busy={ask.isPending || asked?.state === "RUNNING"}
                    onChange={setDraft}
                    onAsk={({ system, ...rest }) => ask.mutate({ ...rest, system: system.trim() || null })}
                  />
                )
              }
            </QueryView>
          )}
        </QueryView>
      </Card>
      {id === null ? null : (
        <QueryView
          query={question}
          label="Loading the answers"
          rows={4}
          back={{ href: "/playground", name: "Ask anew" }}
        >
          {(data) => (
            <Answers
              question={data}
              cancelling={cancel.isPending}
              onCancel={() => cancel.mutate({ id: data.id })}
            />
          )}
        </QueryView>
      )}
      <Card title="The same as curl" hint="With a key of a tenant; the key never comes into this page.">
        <Command
          text={curlOf(
            node?.url ?? null,
            route,
            draft?.prompt || asked?.ask.prompt || "PROMPT",
            draft?.maxTokens ?? asked?.ask.maxTokens ?? 64,
          )}
        />
      </Card>
      <Terminal commands={[command.ask(route, node?.name ?? "NODE")]} />
    </>
  );
}

const STATE_WORDS: Record<Question["state"], string> = {
  RUNNING: "Being asked, one side after the other.",
  DONE: "Answered.",
  FAILED: "Not brought to its end.",
  CANCELLED: "Cancelled.",
};

function Answers({
  question,
  cancelling,
  onCancel,
}: {
  question: Question;
  cancelling: boolean;
  onCancel: () => void;
}) {
  const running = question.state === "RUNNING";
  const { prompt } = question.ask;
  return (
    <section aria-label="Answers" className="space-y-3">
      <div className="flex flex-wrap items-center gap-3">
        <p role="status" className="min-w-0">
          <strong className="font-semibold">{STATE_WORDS[question.state]}</strong>{" "}
          <span className="text-ink-soft [overflow-wrap:anywhere]">
            {question.ask.route} on {question.node.name}:{" "}
            {prompt.length > 160 ? `${prompt.slice(0, 160)}...` : prompt}
          </span>
        </p>
        {running ? (
          <Button size="small" busy={cancelling} onClick={onCancel}>
            Cancel
          </Button>
        ) : null}
      </div>
      {question.error ? (
        <p role="alert" className="rounded-lg bg-bad-wash px-3 py-2 text-bad-ink">
          {question.error}
        </p>
      ) : null}
      <div className="grid items-start gap-4 lg:grid-cols-2 xl:grid-cols-3">
        {PlaygroundSide.options.map((side) => (
          <AnswerCard
            key={side}
            side={side}
            answer={question.answers.find((answer) => answer.side === side)}
            running={running}
          />
        ))}
      </div>
      <p className="text-[0.8125rem] text-ink-soft">
        Only you see this; prompt and answers are deleted an hour after they were asked.
      </p>
    </section>
  );
}

function curlOf(url: string | null, route: string, prompt: string, maxTokens: number): string {
  const body = JSON.stringify({
    model: route,
    messages: [{ role: "user", content: prompt }],
    max_tokens: Number(maxTokens) || 64,
    temperature: 0,
  }).replaceAll("'", "'\\''");
  const base = url?.replace(/\/$/, "") ?? "GATEWAY";
  return `curl -si ${base}/v1/chat/completions -H "authorization: Bearer $HELM_API_KEY" -H "content-type: application/json" -d '${body}'`;
}
