"use client";

import type { Ladder } from "@helm/contracts";
import { parseAsString, useQueryState } from "nuqs";
import { QueryView } from "../../api/query-view";
import { Badge } from "../../ui/badge";
import { ButtonLink } from "../../ui/button";
import { Card, Facts, PageHeader } from "../../ui/card";
import { SelectField } from "../../ui/field";
import { bytes, count, milliseconds, plural } from "../../ui/numbers";
import { Empty } from "../../ui/states";
import { usePreferences } from "../preferences/provider";
import { TimeAgo } from "../preferences/time";
import { absoluteTime } from "../preferences/time-words";
import { command } from "../shell/commands";
import { useNameLeaf } from "../shell/leaf";
import { Terminal } from "../shell/terminal-card";
import { LadderFigures } from "./ladder-figures";
import { endWords, notComparable } from "./ladder-words";
import { RungTable } from "./rung-table";
import { TargetsCard } from "./targets-card";
import { type Recorded, useLadders } from "./use-ladders";

/** One ladder, and another beside it; which one is in the address. */
export function LadderPage({ id }: { id: string }) {
  const ladders = useLadders();
  return (
    <QueryView query={ladders} label="Loading the ladder" rows={6}>
      {(rows) => {
        const shown = rows.find((row) => row.id === id);
        return shown ? (
          <One shown={shown} others={rows.filter((row) => row.id !== id)} />
        ) : (
          <Empty title="Not here" action={<ButtonLink href="/ladders">All ladders</ButtonLink>}>
            There is no such ladder among the newest hundred.
          </Empty>
        );
      }}
    </QueryView>
  );
}

function One({ shown, others }: { shown: Recorded; others: Recorded[] }) {
  const [chosen, choose] = useQueryState("with", parseAsString);
  const beside = others.find((row) => row.id === chosen) ?? null;
  const { result } = shown;
  useNameLeaf(`${result.model}, ${plural(result.rungs.at(-1)?.clients ?? 0, "client")}`);
  return (
    <>
      <PageHeader
        title={`Ladder of ${result.model}`}
        badge={result.development ? <Badge tone="warn">development</Badge> : null}
        lead={endWords(result)}
      />
      {others.length > 0 ? (
        <Compared
          shown={shown}
          beside={beside}
          others={others}
          choose={(next) => void choose(next || null)}
        />
      ) : null}
      <LadderFigures shown={result} beside={beside?.result ?? null} />
      <div className="grid gap-4 lg:grid-cols-2">
        <TargetsCard ladder={result} />
        <Card title="What was run">
          <Facts rows={facts(shown)} />
        </Card>
      </div>
      <RungTable ladder={result} />
      {beside ? <RungTable ladder={beside.result} title="Rungs of the other ladder" /> : null}
      <Terminal commands={[command.ladderAgain(result, targetsOf(result))]} />
    </>
  );
}

function Compared({
  shown,
  beside,
  others,
  choose,
}: {
  shown: Recorded;
  beside: Recorded | null;
  others: Recorded[];
  choose: (id: string) => void;
}) {
  const { zone } = usePreferences();
  const why = beside ? notComparable(shown.result, beside.result) : null;
  return (
    <Card
      title="Beside another"
      hint="The same prompts for the same number of tokens, asked at another time."
    >
      <SelectField
        label="Compare with"
        value={beside?.id ?? ""}
        onChange={(event) => choose(event.target.value)}
      >
        <option value="">no other ladder</option>
        {others.map((row) => (
          <option key={row.id} value={row.id}>
            {`${row.result.model}, ${row.node?.name ?? row.result.gateway}, ${absoluteTime(row.createdAt, zone)}`}
          </option>
        ))}
      </SelectField>
      {why ? (
        <p className="mt-3 rounded-lg bg-warn-wash px-3 py-2 text-warn-ink">
          Read these two with care: {why}.
        </p>
      ) : null}
    </Card>
  );
}

function facts({ node, recordedBy, createdAt, result }: Recorded): Parameters<typeof Facts>[0]["rows"] {
  return [
    ["Node", node?.name ?? result.gateway],
    ["Answered by", result.served_by ?? "not said"],
    ["Engine", result.engine ?? "not said"],
    [
      "One request alone",
      `first token ${milliseconds(result.alone.first_token_ms)}, whole answer ${milliseconds(result.alone.total_ms)}`,
    ],
    ["Load", `${count(result.load.prompts)} prompts, ${count(result.load.max_tokens)} tokens at most`],
    ["Memory bound", result.max_memory_bytes === null ? "none was set" : bytes(result.max_memory_bytes)],
    ["Recorded", <TimeAgo key="at" at={createdAt} />],
    ["By", recordedBy],
  ];
}

const targetsOf = ({ targets }: Ladder) =>
  targets.map(({ clients, requests_per_second: rate }) => `${clients}=${rate}`).join(",");
